#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/expression.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/input/node_values.hpp"
#include "recoil/potentials/bonds/bond.hpp"
#include "recoil/potentials/laws/law.hpp"
#include "recoil/potentials/spheres/contact_law.hpp"
#include "recoil/solvers/bdem/integrator.hpp"

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

/// The number that a value is everywhere and at all times, if it is one.
std::optional<double> constant_of(const MaterialValue& value);

enum class PlaneState { stress, strain };

/// One entry of `materials`.
struct MaterialEntry {
  /// One of the constants that the law needs, under its name in the scene; terms of lists as `mus_1`, ..
  struct Constant {
    std::string name;
    MaterialValue value;
  };

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
      PlaneState::stress; ///< 2D with E and nu: lambda = E nu/(1-nu^2) or the plane-strain constant
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

/// How a bonded particle with a prescribed displacement turns.
struct PrescribedTurn {
  bool free = false;
  std::vector<Expression> value;         ///< rotation vector [rad] of t; empty: none
  std::vector<TimeFactor> interpolation; ///< as DirichletEntry has it

  /// Component `c` of the rotation vector at time t [rad].
  double evaluate(int c, double t) const {
    return value.empty() ? 0 : time_factor(interpolation, c, t) * value[c]({0, 0, 0, t});
  }
};

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
  PrescribedTurn turn;                   ///< of bonded particles
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

/// One entry of `normal_aligned_neumann_boundary` or `pressure_boundary`: positive pulls outwards [Pa].
struct PressureEntry {
  bool all = false;
  std::vector<int> ids;
  Expression value;                   ///< when `per_time` is empty
  std::vector<Expression> per_time;   ///< `pressure_boundary`: one per entry of `time_reference`
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
  std::vector<PressureEntry> pressure;
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

  /// Of all entries.
  std::vector<const Region*> regions() const;
};

enum class TimeKind { statics, quasistatic, dynamic };

/// `time`. Step n = 1..steps is solved at t0 + n dt; statics: one solve, formulas at t = 1.
struct TimeSpec {
  TimeKind kind = TimeKind::statics;
  double t0 = 0;
  double dt = 1;
  int steps = 1;
  int bdf_order = 1; ///< 1..6; start-up raises the order by one per step
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
  bool use_convergent_formulation = false;
  bool use_area_weighting = true, use_improved_max_operator = true,
       use_physical_barrier = true;                            ///< act only with it
  bool use_gcp_formulation = false;                            ///< geometric contact potential
  double alpha_t = 0.5, beta_t = 0, alpha_n = 0.5, beta_n = 0; ///< act only with it
  std::optional<double> barrier_stiffness;                     ///< empty = adaptive
  double initial_barrier_stiffness = 1;
  int friction_iterations = 1;         ///< -1 until converged, 0 no friction
  double friction_convergence_tol = 0; ///< PolyFEM's; 0: a share of the contact forces
};

/// What a scene is simulated by (`solver/type`).
enum class SolverType { elastodynamics, bonded_particles };

/// How the particles of a body are found (`geometry/*/particles/packing`).
enum class Packing { hcp, fcc, random };

/// `geometry/*/particles`: a body of bonded particles fills the surface of its mesh, or comes from a file.
struct ParticleBody {
  std::string body;
  std::filesystem::path file;           ///< empty: packed
  std::filesystem::path bonds;          ///< beside `file`; may be empty
  std::optional<double> radius_in_file; ///< [m] of particles that have none there
  Packing packing = Packing::hcp;
  double min_radius = 0, max_radius = 0;              ///< [m]; equal in lattices
  Eigen::Vector3d rotation = Eigen::Vector3d::Zero(); ///< rotation vector of the lattice [degrees]
  bool whole_spheres = true;                          ///< inside of the surface, or their centres alone
  int seed = 0;
  /// Of the gap between bonded particles, over the sum of their radii; none: 1e-6, or bonds of the file.
  std::optional<double> bond_tolerance;
  std::string where;

  /// A lattice whose bonds join nearest neighbours alone: second ones are sqrt(2) as far away.
  bool is_simple_lattice() const {
    return file.empty() && packing != Packing::random && bond_tolerance.value_or(0) < 0.414;
  }
};

/// A material of bonds (`materials/*` of type BondedParticles).
struct BondMaterialEntry {
  std::vector<std::string> bodies; ///< empty: all
  double E = 0, nu = 0, rho = 0;   ///< [Pa], [kg/m^3] of the bulk
  bool macroscopic = false;        ///< E is that of lattices along their x axis, not that of bonds
  std::optional<double> tensile_strength, shear_strength; ///< [Pa]; without: does not break so
  double friction_angle = 0;                              ///< [degrees]
  bool separate_terms = false;
  std::optional<double> weibull_modulus; ///< of the strengths; none: all bonds have the same
  int strength_seed = 0;
  std::optional<double> strength_radius; ///< of the bonds that have these strengths [m]; none: all of them
  double section = 1;                    ///< radius of bonds over the mean radius of their ends
  potentials::BondForm form;
  std::string where;
};

/// `boundary_conditions/particle_forces/*`: a force shared equally by the particles with these ids.
struct ParticleForce {
  std::vector<int> ids;
  std::vector<Expression> value; ///< of t [N]
  std::string where;
};

/// `solver/bonded_particles`.
struct ParticleSolverSpec {
  solvers::ParticleIntegrator integrator = solvers::ParticleIntegrator::be_reflect; ///< of dynamic scenes
  double tolerance = 1e-4;
  int max_iterations = 100;
  std::optional<potentials::ContactLaw> contact_law; ///< none: that of the integrator
  double cascade_share = 0.9;
  int cascade_iterations = 1;  ///< 0: until converged
  double max_broken_share = 1; ///< 1: never more
  solvers::SuddenBreaking sudden_breaking = solvers::SuddenBreaking::impacts;
  double explicit_share = 0.2;
  double rolling_friction = 0;
  double max_imbalance = 1.3; ///< largest work of a rank over the mean
  double damage_width = 0;
};

enum class StopRule { gradient, step };
enum class StopNorm { l2, euclidean };

struct SolverSpec {
  SolverType type = SolverType::elastodynamics;
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

enum class OutputField { stress, von_mises, strain_energy, contact_force, friction_force };

struct OutputSpec {
  int every = 1;  ///< steps between stored states
  int chunk = 16; ///< states per trajectory file
  std::vector<OutputField> fields;
};

/// Infinite plane obstacle (`type: plane`); solid on the side against the normal.
struct PlaneObstacle {
  std::string name;
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  Eigen::Vector3d normal = Eigen::Vector3d::UnitY(); ///< unit length
  std::optional<int> id;                             ///< by which it moves, with bonded particles
  std::string where;
};

struct Scene {
  std::filesystem::path file; ///< the scene that was read
  Conventions conventions = Conventions::recoil;
  std::vector<mesh::GeometrySpec> geometry; ///< enabled entries in the order of the file, obstacles included
  std::vector<PlaneObstacle> planes;
  SpaceSpec space;
  std::vector<MaterialEntry> materials;
  std::vector<ParticleBody> particle_bodies; ///< of bonded_particles scenes, as are the next ones
  std::vector<BondMaterialEntry> bond_materials;
  std::vector<ParticleForce> particle_forces;
  ParticleSolverSpec particle_solver;
  BoundaryConditions boundary_conditions;
  std::vector<double> gravity; ///< [m/s^2], natural sign; adds to rhs
  InitialConditions initial_conditions;
  TimeSpec time;
  ContactSpec contact;
  SolverSpec solver;
  OutputSpec output;

  std::vector<std::string> warnings; ///< accepted, but probably not meant
  std::vector<std::string> notes;    ///< keys that PolyFEM knows and recoil has no use for
};

/// The material of an element: the last entry that names its body or volume id; nullptr if none does.
const MaterialEntry* find_material(const Scene& scene, const std::string& body, int volume_id);

/// The bonds of a body: the last entry that names it or all; nullptr if none does.
const BondMaterialEntry* find_bond_material(const Scene& scene, const std::string& body);

/// Index into scene.materials of find_material; -1 if none.
int find_material_index(const Scene& scene, const std::string& body, int volume_id);

/// Order of the Lagrange basis on a body.
int order_of_body(const Scene& scene, const std::string& body);

/// True when `region` contains the elements of `body` with this volume id.
bool contains(const Region& region, const std::string& body, int volume_id);

} // namespace recoil::app
