#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recoil/app/run/law_constants.hpp"
#include "recoil/app/scene/periodic_entry.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/potentials/laws/law.hpp"

namespace recoil::app {

enum class PlaneState { stress, strain };

/// One entry of `materials`.
struct MaterialEntry {
  using Constant = GivenConstant;

  std::string type; ///< as the scene names the law
  const potentials::LawInfo* law = nullptr;
  bool everywhere = false;         ///< `materials` was one object: applies to all elements, ids ignored
  std::vector<int> ids;            ///< volume ids; empty when given by body or everywhere
  std::vector<std::string> bodies; ///< body names instead of ids
  /// E [Pa] and nu, or all parameters of the law but terms that its lists leave out, in its order.
  std::vector<Constant> constants;
  MaterialValue rho{Expression(1.0)}; ///< [kg/m^3], 2D [kg/m^2]
  MaterialValue phi{Expression(0.0)},
      psi{Expression(0.0)}; ///< damping [Pa s]: bulk, shear; active when either is positive
  PlaneState plane =
      PlaneState::stress;       ///< 2D with E and nu: lambda = E nu/(1-nu^2) or the plane-strain constant
  bool mean_dilatation = false; ///< one change of volume in each cell, of order 2
  std::string where;

  /// nullptr if the constants above have none of this name.
  const MaterialValue* find(std::string_view name) const;
  /// The constants above, rho, phi and psi.
  std::vector<const MaterialValue*> values() const;
  /// E and nu are given in the place of lambda and mu.
  bool given_by_young() const { return find("E") != nullptr; }
};

/// `conventions`: whose formulas are taken where PolyFEM's differ from ours (docs/polyfem.md).
enum class Conventions { recoil, polyfem };

/// `space`: order of the Lagrange basis, for all bodies and per body.
struct SpaceSpec {
  int order = 1;
  std::optional<int> quadrature_degree; ///< of stiffness integrals; empty = fem::stiffness_degree
  std::vector<std::pair<std::string, int>> body_orders;
};

enum class StopRule { gradient, step };
enum class StopNorm { l2, euclidean };

template <>
struct EnumNames<StopRule> {
  static constexpr EnumName<StopRule> all[]{{"gradient", StopRule::gradient}, {"step", StopRule::step}};
};
template <>
struct EnumNames<StopNorm> {
  static constexpr EnumName<StopNorm> all[]{{"L2", StopNorm::l2}, {"Euclidean", StopNorm::euclidean}};
};

struct SolverSpec {
  StopRule stop = StopRule::gradient;
  StopNorm norm = StopNorm::l2; ///< of the gradient
  double grad_norm_tol = 1e-10, rel_grad_norm_tol = 1e-10, first_grad_norm_tol = 1e-12;
  double step_tolerance = 1e-2;
  int max_iterations = 500;
  bool allow_out_of_iterations = false;
  std::optional<double> characteristic_length; ///< [m]; empty = diagonal of the rest bounding box
  double characteristic_force_density = 1e4;   ///< [N/m^3]
  bool lump_mass_matrix = false;
  double lagged_regularization_weight = 0; ///< statics only
  int lagged_regularization_iterations = 1;
};

/// A state of another run that a scene starts from (`initial_conditions/state`).
struct StoredState {
  std::filesystem::path run;  ///< folder of the run
  std::optional<double> time; ///< [s]; empty: that of its last stored state
  std::string where;

  std::filesystem::path trajectory() const { return run / "trajectory"; }
};

/// What scenes of finite elements hold beside what all scenes have.
struct ElementScene : SolverSceneOf<ElementScene> {
  Conventions conventions = Conventions::recoil;
  SpaceSpec space;
  std::vector<MaterialEntry> materials;
  SolverSpec solver;
  int bdf_order = 1;                 ///< 1..6; start-up raises the order by one per step
  std::optional<StoredState> stored; ///< of another run, that bodies start from
  std::optional<PeriodicEntry> periodic;

  std::vector<std::filesystem::path> files() const override;
  stepping::Entries scheme() const override;
};

/// @pre the scene is of finite elements.
inline ElementScene& elements_of(Scene& scene) { return part_of<ElementScene>(scene); }
inline const ElementScene& elements_of(const Scene& scene) { return part_of<ElementScene>(scene); }

/// The material of an element: the last entry that names its body or volume id; nullptr if none does.
const MaterialEntry* find_material(const Scene& scene, const std::string& body, int volume_id);

/// Index into ElementScene::materials of find_material; -1 if none.
int find_material_index(const Scene& scene, const std::string& body, int volume_id);

/// Order of the Lagrange basis on a body.
int order_of_body(const Scene& scene, const std::string& body);

} // namespace recoil::app
