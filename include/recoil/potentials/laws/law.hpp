#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recoil/potentials/laws/element_hessian.hpp"
#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::potentials {

/// A constant of a law as scenes and studies name it.
struct LawConstant {
  const char* name;               ///< key of a material in a scene
  const char* quantity = nullptr; ///< of a parameter of a study; nullptr: other quantities stand for it
  const char* unit = nullptr;     ///< SI; nullptr: none
  const char* doc = "";           ///< what it is, for docs/scene.md
  double min = -std::numeric_limits<double>::infinity(); ///< excluded
  int max_terms = 0; ///< 0: a single number; otherwise a list of up to so many, of one length for all lists
  double absent = 0; ///< value of the terms that a list leaves out: they have no effect
  int min_dimension = 2; ///< without effect in fewer dimensions
};

/// What all laws share that are isotropic in linear theory and need no more: E and nu may stand for them.
inline constexpr std::array lame_constants{LawConstant{.name = "lambda", .unit = "Pa"},
                                           LawConstant{.name = "mu", .unit = "Pa", .min = 0}};

/// Number of values of all constants, the terms of lists one by one.
constexpr int count_parameters(std::span<const LawConstant> constants) {
  int count = 0;
  for (const LawConstant& constant : constants) count += constant.max_terms == 0 ? 1 : constant.max_terms;
  return count;
}

/// Hyperelastic law W(F; parameters) on dim x dim deformation gradients, as a set of static pure functions:
///
/// - `energy_density(F, p)` [J/m^3]: W; +infinity where J = det F <= 0 if `resists_inversion`, else finite; 0
/// at F = I;
/// - `first_piola(F, p)` [Pa]: P = dW/dF;
/// - `tangent(F, p, A)`: A = dP/dF, symmetric, in the layout of Tangent;
/// - `stress_derivatives(F, p)`: dP/dp_k for each parameter;
/// - `energy_derivatives(F, p)`: dW/dp_k for each parameter; only of laws that are not linear in them;
/// - `add_hessian(gradients, weight, F, p, K)`: adds weight * d2W/du_a du_b to the blocks a <= b of an
/// element matrix
///   without forming A; arguments as element_hessian.hpp.
///
/// `constants` says what they depend on, in the order of the parameters; laws in the Lame constants take
/// `lame_constants`. Stress functions need J > 0 if `resists_inversion`. `small_strain` marks laws whose P is
/// itself the (symmetric) stress of linear theory. A law may have a second name in scenes, `alias`.
template <class Law>
concept ConstitutiveLaw = requires(const typename Law::Matrix& F, const typename Law::Parameters& p,
                                   Tangent<Law::dimension>& A) {
  { Law::name } -> std::convertible_to<std::string_view>;
  { Law::constants } -> std::convertible_to<std::span<const LawConstant>>;
  requires std::tuple_size_v<typename Law::Parameters>
  == count_parameters(Law::constants);
  { Law::resists_inversion } -> std::convertible_to<bool>;
  { Law::small_strain } -> std::convertible_to<bool>;
  { Law::energy_density(F, p) } -> std::same_as<double>;
  { Law::first_piola(F, p) } -> std::same_as<typename Law::Matrix>;
  Law::tangent(F, p, A);
  {
    Law::stress_derivatives(F, p)
    } -> std::same_as<std::array<typename Law::Matrix, std::tuple_size_v<typename Law::Parameters>>>;
};

/// Number of values that a law depends on.
template <class Law>
inline constexpr std::size_t num_parameters = std::tuple_size_v<typename Law::Parameters>;

/// dW/dp_k [J/m^3 per unit of the parameter].
template <class Law>
typename Law::Parameters energy_derivatives(const typename Law::Matrix& F,
                                            const typename Law::Parameters& p) {
  if constexpr (requires { Law::energy_derivatives(F, p); }) {
    return Law::energy_derivatives(F, p);
  } else {
    typename Law::Parameters derivatives;
    for (std::size_t k = 0; k < derivatives.size(); ++k) {
      typename Law::Parameters unit{};
      unit[k] = 1;
      derivatives[k] = Law::energy_density(F, unit);
    }
    return derivatives;
  }
}

/// One value that a law depends on: a constant, or a term of a list of them.
struct LawParameter {
  std::string name;            ///< of the constant; with "_1", "_2", .. of the terms of a list
  std::string quantity;        ///< of a study, likewise; empty if none
  const LawConstant* constant; ///< what it is, or is a term of
  int term;                    ///< from 0 on; 0 for a single number
};

/// What may be known of a law at run time.
struct LawInfo {
  std::string_view name, alias; ///< in scenes; `alias` is empty if there is none
  bool lame;                    ///< its constants are lambda and mu
  std::span<const LawConstant> constants;
  std::vector<LawParameter> parameters; ///< in the order of Law::Parameters
};

/// All laws, in the order of laws/all.hpp.
std::span<const LawInfo> laws();
/// The law with this name or alias; nullptr if there is none.
const LawInfo* find_law(std::string_view name);

} // namespace recoil::potentials
