#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <string_view>

#include "recoil/potentials/laws/element_hessian.hpp"
#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::potentials {

/// Hyperelastic law W(F; parameters) on dim x dim deformation gradients, as a set of static pure functions:
///
/// - `energy_density(F, p)` [J/m^3]: W; +infinity where J = det F <= 0 if `resists_inversion`, else finite; 0
/// at F = I;
/// - `first_piola(F, p)` [Pa]: P = dW/dF;
/// - `tangent(F, p, A)`: A = dP/dF, symmetric, in the layout of Tangent;
/// - `stress_derivatives(F, p)`: dP/dp_k for each parameter;
/// - `add_hessian(gradients, weight, F, p, K)`: adds weight * d2W/du_a du_b to the blocks a <= b of an
/// element matrix
///   without forming A; arguments as element_hessian.hpp.
///
/// Stress functions need J > 0 if `resists_inversion`. All laws are linear in their parameters, so that
/// P = sum_k p_k dP/dp_k. `small_strain` marks laws whose P is itself the (symmetric) stress of linear
/// theory.
template <class Law>
concept ConstitutiveLaw = requires(const typename Law::Matrix& F, const typename Law::Parameters& p,
                                   Tangent<Law::dimension>& A) {
  { Law::name } -> std::convertible_to<std::string_view>;
  { Law::num_parameters } -> std::convertible_to<int>;
  { Law::parameter_names[0] } -> std::convertible_to<std::string_view>;
  { Law::resists_inversion } -> std::convertible_to<bool>;
  { Law::small_strain } -> std::convertible_to<bool>;
  { Law::energy_density(F, p) } -> std::same_as<double>;
  { Law::first_piola(F, p) } -> std::same_as<typename Law::Matrix>;
  Law::tangent(F, p, A);
  { Law::stress_derivatives(F, p) } -> std::same_as<std::array<typename Law::Matrix, Law::num_parameters>>;
};

} // namespace recoil::potentials
