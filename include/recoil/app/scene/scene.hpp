#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/scene/enum_names.hpp"
#include "recoil/app/scene/geometry.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/expression.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/units.hpp"
#include "recoil/mesh/input/node_values.hpp"
#include "recoil/stepping/solver.hpp"

/// A scene as the factories use it: typed, complete (defaults filled in, paths absolute), free of JSON. Names
/// and meaning follow docs/scene.md. The dimension is known once the geometry is read: lists of d components
/// keep the length given in the file, and validate_against_mesh cuts them to d. Every `where` holds file,
/// line and JSON pointer for messages.
namespace recoil::app {

/// One value per element, read from an HDF5 dataset with a row per element of all deformable bodies.
struct ElementData {
  std::filesystem::path file;
  std::string dataset;
};

/// A material constant: a formula of rest position and time, or one value per element.
using MaterialValue = std::variant<Expression, ElementData>;

/// The file of a value per element; nullptr where it is a formula.
inline const std::filesystem::path* file_of(const MaterialValue& value) {
  const auto* data = std::get_if<ElementData>(&value);
  return data ? &data->file : nullptr;
}

/// The number that a value is everywhere and at all times, if it is one.
std::optional<double> constant_of(const MaterialValue& value);

/// How a boundary value grows with time (`interpolation`): a factor f(t) on the value.
struct TimeFactor {
  enum class Kind {
    none,               ///< 1
    linear,             ///< t
    linear_ramp,        ///< min(max(t - from, 0), to - from)
    piecewise_constant, ///< value of the last point at or before t
    piecewise_linear    ///< linear between points, constant outside
  };
  Kind kind = Kind::none;
  double from = 0, to = 0;            ///< [s], linear_ramp
  std::vector<double> points, values; ///< [s], [1]; piecewise forms, points ascending

  double operator()(double t) const;
};

/// Factor for component c of a list that is empty (1), has one entry (for all components) or one per
/// component.
double time_factor(const std::vector<TimeFactor>& factors, int c, double t);

/// One value of d components per node, read from an HDF5 dataset with a row per node of all deformable
/// bodies.
struct NodalData {
  std::filesystem::path file;
  std::string dataset;
};

/// d components [m] per node, by canonical numbers.
using NodalValues = std::unordered_map<GlobalIndex, std::array<double, 3>>;

/// One component of a prescribed value.
struct ComponentValue {
  Expression value;                 ///< when `per_time` is empty
  std::vector<Expression> per_time; ///< one per entry of `time_reference`
  bool constrained = true;          ///< false: this component stays free
};

/// One entry of `dirichlet_boundary` or `obstacle_displacements`: total displacement from rest [m].
struct DirichletEntry {
  bool all = false; ///< every boundary facet with a positive id (obstacles: every id)
  std::vector<int> ids;
  std::vector<ComponentValue> value;
  std::vector<TimeFactor> interpolation; ///< empty, one for all components, or one per component
  std::vector<double> time_reference;    ///< [s], absolute
  double start_time = 0;                 ///< t0 of the scene [s]: per-time lists start from zero there
  std::optional<NodalData> nodal;        ///< values per node in place of formulas, NaN where there is none
  std::optional<NodalValues> at_nodes;   ///< the same of this rank's nodes, as parameters set them
  std::filesystem::path node_file;       ///< values of single vertices; nothing above is given then
  std::vector<mesh::NodeValue> nodes;    ///< of node_file; load_scene reads them
  std::string where;

  /// Whether `t` is in `time_reference`, both rounded to 1e-3 s, or to a thousandth of the distance of times
  /// that lie closer than 2e-3 s.
  bool is_listed(double t) const;
  /// The value of component `c` at rest position (x, y, z) and time t, interpolation factor included. Between
  /// the times of a list, where only sub-steps of a repeated step are, it is linear in t.
  /// @throws InputError beyond the last time of a list.
  double evaluate(int c, const ExpressionPoint& point) const;
};

/// One entry of `neumann_boundary`: traction per rest area, natural sign [Pa].
struct TractionEntry {
  bool all = false;
  std::vector<int> ids;
  std::vector<Expression> value;
  std::vector<TimeFactor> interpolation;
  std::string where;
};

/// One entry of `normal_aligned_neumann_boundary`, `rest_pressure_boundary` or `pressure_boundary`: positive
/// pulls outwards [Pa].
struct PressureEntry {
  bool all = false;
  std::vector<int> ids;
  Expression value;                   ///< when `per_time` is empty
  std::vector<Expression> per_time;   ///< of the pressures: one per entry of `time_reference`
  std::vector<double> time_reference; ///< [s], absolute
  double start_time = 0;              ///< t0 of the scene [s]: per-time lists start from zero there
  std::vector<TimeFactor> interpolation;
  std::string where;

  /// See DirichletEntry; without the interpolation factor.
  bool is_listed(double t) const;
  double evaluate(const ExpressionPoint& point) const;
  /// All formulas of the value.
  std::vector<Expression> formulas() const;
};

struct BoundaryConditions {
  /// [m/s^2] with reversed sign: the force density is -rho rhs. Formulas of position and time, or values per
  /// element.
  std::vector<MaterialValue> rhs;
  std::vector<DirichletEntry> dirichlet;
  std::vector<DirichletEntry> obstacle_displacements;
  std::vector<TractionEntry> neumann;
  std::vector<PressureEntry> normal_aligned_neumann;
  std::vector<PressureEntry> rest_pressure;
  std::vector<PressureEntry> pressure;

  /// The loads along normals, of all kinds.
  std::array<const std::vector<PressureEntry>*, 3> normal_loads() const {
    return {&normal_aligned_neumann, &rest_pressure, &pressure};
  }
};

/// Whether an entry of the boundary conditions holds for facets, or obstacles, with the id `id` > 0.
template <class Entry>
bool acts_on(const Entry& entry, int id) {
  return entry.all || holds(entry.ids, id);
}

/// Where an initial condition holds: volume ids or body names.
struct Region {
  std::vector<int> ids;
  std::vector<std::string> bodies;
  std::string where;
};

/// One entry of `initial_conditions/{velocity, solution, acceleration}`, formulas of the rest position at t =
/// 0, or values per node.
struct InitialField {
  Region region;
  std::vector<Expression> value;  ///< empty where there are values per node
  std::optional<NodalData> nodes; ///< rows of NaN leave a node as it is
};

/// One entry of `initial_conditions/angular_velocity`: rigid spin added to the velocity.
struct AngularVelocity {
  Region region;
  std::vector<double> value;             ///< [rad/s], one number in 2D, three in 3D
  std::optional<Eigen::Vector3d> center; ///< default: centre of mass of the region
};

struct InitialConditions {
  std::vector<InitialField> solution;     ///< [m]
  std::vector<InitialField> velocity;     ///< [m/s]
  std::vector<InitialField> acceleration; ///< [m/s^2]
  std::vector<AngularVelocity> angular_velocity;

  /// The regions of all entries.
  std::vector<const Region*> regions() const;
};

enum class TimeKind { statics, quasistatic, dynamic };

/// `time`. Step n = 1..steps is solved at t0 + n dt; statics: one solve, formulas at t = 1.
struct TimeSpec {
  TimeKind kind = TimeKind::statics;
  double t0 = 0;
  double dt = 1;
  int steps = 1;
  int max_retries = 6;

  /// Time at which step n is solved.
  double time_of_step(int n) const { return kind == TimeKind::statics ? 1.0 : t0 + n * dt; }
};

/// Friction coefficient between two bodies (or of one with itself).
struct FrictionPair {
  std::array<std::string, 2> bodies;
  double coefficient = 0;
};

struct ContactSpec {
  bool enabled = false;
  double dhat = 1e-3; ///< [m]
  std::optional<double>
      dhat_relative;  ///< replaces dhat: fraction of the rest bounding box diagonal of the deformables
  double epsv = 1e-3; ///< [m/s]
  double friction_coefficient = 0;
  std::vector<FrictionPair> friction_pairs;
  bool periodic = false; ///< with the cells next to a periodic one
  bool use_convergent_formulation = false;
  bool use_area_weighting = true, use_improved_max_operator = true,
       use_physical_barrier = true;                            ///< act only with it
  bool use_gcp_formulation = false;                            ///< geometric contact potential
  double alpha_t = 0.5, beta_t = 0, alpha_n = 0.5, beta_n = 0; ///< act only with it
  bool adhesion_enabled = false;
  double adhesion_peak = 1e-3, adhesion_reach = 1e-2; ///< distances of the largest force, of none [m]
  std::optional<double> adhesion_strength;            ///< there with adhesion
  std::optional<double> tangential_adhesion;          ///< coefficient
  double epsa = 1e-3;                                 ///< [m/s]
  std::optional<double> barrier_stiffness;            ///< empty = adaptive
  double initial_barrier_stiffness = 1;
  int friction_iterations = 1;         ///< -1 until converged, 0 no friction
  double friction_convergence_tol = 0; ///< PolyFEM's; 0: a share of the contact forces
};

enum class OutputField { stress, von_mises, strain_energy, contact_force, friction_force, reaction_force };
template <>
struct EnumNames<OutputField> {
  static constexpr EnumName<OutputField> all[]{{"stress", OutputField::stress},
                                               {"von_mises", OutputField::von_mises},
                                               {"strain_energy", OutputField::strain_energy},
                                               {"contact_force", OutputField::contact_force},
                                               {"friction_force", OutputField::friction_force},
                                               {"reaction_force", OutputField::reaction_force}};
};

struct OutputSpec {
  int every = 1;          ///< steps between stored states
  std::vector<int> steps; ///< those of `times`, ascending, whose states are stored in place of `every`
  int chunk = 16;         ///< states per trajectory file
  std::vector<OutputField> fields;
};

/// What a scene holds for its solver alone. Each solver derives its own part.
struct SolverScene {
  virtual ~SolverScene() = default;
  virtual std::unique_ptr<SolverScene> clone() const = 0;
  /// Files that a run reads because this part names them.
  virtual std::vector<std::filesystem::path> files() const = 0;
  /// What the trajectory of a run says of the scheme of its solver.
  virtual stepping::Entries scheme() const { return {}; }
};

/// The copying of a part; Part derives from this.
template <class Part>
struct SolverSceneOf : SolverScene {
  std::unique_ptr<SolverScene> clone() const override {
    return std::make_unique<Part>(static_cast<const Part&>(*this));
  }
};

/// A part of any solver, copied with its scene; a scene that was not read yet has none.
class SolverPart {
public:
  SolverPart() = default;
  SolverPart(std::unique_ptr<SolverScene> part) : part_(std::move(part)) {}
  SolverPart(const SolverPart& other) : part_(other.part_ ? other.part_->clone() : nullptr) {}
  SolverPart(SolverPart&&) noexcept = default;
  SolverPart& operator=(const SolverPart& other) { return *this = SolverPart(other); }
  SolverPart& operator=(SolverPart&&) noexcept = default;
  ~SolverPart() = default;

  SolverScene* get() const { return part_.get(); }
  SolverScene* operator->() const { return part_.get(); }

private:
  std::unique_ptr<SolverScene> part_;
};

struct Scene {
  std::filesystem::path file;               ///< the scene that was read
  UnitSystem units;                         ///< of all its numbers
  std::string solver;                       ///< name of its solver, `solver/type`
  SolverPart own;                           ///< what this solver alone has
  std::vector<mesh::GeometrySpec> geometry; ///< enabled entries in the order of the file, obstacles included
  std::vector<PlaneObstacle> planes;
  BoundaryConditions boundary_conditions;
  std::vector<double> gravity; ///< [m/s^2], natural sign; adds to rhs
  InitialConditions initial_conditions;
  TimeSpec time;
  ContactSpec contact;
  OutputSpec output;

  std::vector<std::string> warnings; ///< accepted, but probably not meant
  std::vector<std::string> notes;    ///< keys that PolyFEM knows and recoil has no use for
};

/// The part of a scene for its solver. @pre it is of this type.
template <class Part>
Part& part_of(Scene& scene) {
  auto* part = dynamic_cast<Part*>(scene.own.get());
  RECOIL_ASSERT(part);
  return *part;
}
template <class Part>
const Part& part_of(const Scene& scene) {
  const auto* part = dynamic_cast<const Part*>(scene.own.get());
  RECOIL_ASSERT(part);
  return *part;
}

/// True when `region` contains the elements of `body` with this volume id.
bool contains(const Region& region, const std::string& body, int volume_id);

} // namespace recoil::app
