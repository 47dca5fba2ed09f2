#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/scene/periodic_entry.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/particles/radius_distribution.hpp"
#include "recoil/potentials/bonds/bond.hpp"
#include "recoil/potentials/spheres/contact_law.hpp"
#include "recoil/solvers/bdem/integrator.hpp"

namespace recoil::app {

/// How the particles of a body are found (`geometry/*/particles/packing`).
enum class Packing { hcp, fcc, random, deposited };

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
  std::optional<double> porosity;      ///< of packings of spheres at random; none: as dense as they get
  particles::RadiusDistribution radii; ///< the same; uniform between both radii by default
  double friction = 0.5;               ///< of spheres while they are deposited
  std::optional<Eigen::Vector3d> down; ///< direction in which they are; none: that of gravity, or -z
  /// The largest gap between bonded particles over the sum of their radii; none: 1e-6, or bonds of the file.
  std::optional<double> bond_tolerance;
  bool bonded = true; ///< false: loose grains
  std::string where;

  bool is_lattice() const { return file.empty() && (packing == Packing::hcp || packing == Packing::fcc); }
  /// A lattice whose bonds join nearest neighbours alone: second ones are sqrt(2) as far away.
  bool is_simple_lattice() const { return bonded && is_lattice() && bond_tolerance.value_or(0) < 0.414; }
};

/// `materials/*/stress_corrosion`: sections of bonds that shrink under tension.
struct StressCorrosionEntry {
  double rate = 0, exponent = 0; ///< [m/s] at no stress; per unit of stress over strength
  double threshold = 0;          ///< of stress over strength
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
  double damping_time = 0;               ///< tau of their viscosity [s]
  std::optional<StressCorrosionEntry> stress_corrosion;
  potentials::BondForm form;
  std::string where;
};

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

/// `boundary_conditions/particle_forces/*`: a force shared equally by the particles with these ids.
struct ParticleForce {
  std::vector<int> ids;
  std::vector<Expression> value; ///< of t [N]
  std::string where;
};

/// `boundary_conditions/servo_planes/*`: a plane that presses on particles with a force.
struct ServoEntry {
  int id = 0;
  Expression force;     ///< of t [N]
  double max_speed = 0; ///< [m/s]
  std::string where;

  /// @throws InputError where it is not above zero.
  double force_at(double time) const;
};

template <>
struct EnumNames<solvers::ParticleIntegrator> {
  static constexpr EnumName<solvers::ParticleIntegrator> all[]{
      {"be_reflect", solvers::ParticleIntegrator::be_reflect},
      {"mid_reflectT", solvers::ParticleIntegrator::mid_reflectT},
      {"del_exact", solvers::ParticleIntegrator::del_exact},
      {"paper_literal", solvers::ParticleIntegrator::paper_literal},
      {"leapfrog", solvers::ParticleIntegrator::leapfrog}};
};
template <>
struct EnumNames<solvers::SuddenBreaking> {
  static constexpr EnumName<solvers::SuddenBreaking> all[]{
      {"impacts", solvers::SuddenBreaking::impacts},
      {"shorter_steps", solvers::SuddenBreaking::shorter_steps},
      {"leapfrog", solvers::SuddenBreaking::leapfrog}};
};
template <>
struct EnumNames<potentials::ContactLaw> {
  static constexpr EnumName<potentials::ContactLaw> all[]{{"barrier", potentials::ContactLaw::barrier},
                                                          {"penalty", potentials::ContactLaw::penalty},
                                                          {"hertz", potentials::ContactLaw::hertz}};
};
template <>
struct EnumNames<potentials::TangentialLaw> {
  static constexpr EnumName<potentials::TangentialLaw> all[]{{"coulomb", potentials::TangentialLaw::coulomb},
                                                             {"mindlin", potentials::TangentialLaw::mindlin}};
};

/// `solver/bonded_particles`.
struct ParticleSolverSpec {
  solvers::ParticleIntegrator integrator = solvers::ParticleIntegrator::be_reflect; ///< of dynamic scenes
  double tolerance = 1e-4;
  int max_iterations = 100;
  std::optional<potentials::ContactLaw> contact_law; ///< none: that of the integrator
  potentials::TangentialLaw tangential_law = potentials::TangentialLaw::coulomb;
  double restitution = 1; ///< coefficient of all contacts
  double cascade_share = 0.9;
  int cascade_iterations = 1;  ///< 0: until converged
  double max_broken_share = 1; ///< 1: never more
  solvers::SuddenBreaking sudden_breaking = solvers::SuddenBreaking::impacts;
  double explicit_share = 0.2;
  double rolling_friction = 0;
  double max_imbalance = 1.3; ///< largest work of a rank over the mean
  double damage_width = 0;
  bool writes_contacts = false; ///< a table of them in every stored step
};

/// What scenes of bonded particles hold beside what all scenes have.
struct BondedScene : SolverSceneOf<BondedScene> {
  std::vector<ParticleBody> bodies;
  std::vector<BondMaterialEntry> materials;
  std::vector<PrescribedTurn> turns; ///< of the entries of `dirichlet_boundary`
  std::vector<ParticleForce> forces;
  std::vector<ServoEntry> servos;
  std::optional<PeriodicEntry> periodic; ///< of a cell that repeats
  ParticleSolverSpec solver;

  std::vector<std::filesystem::path> files() const override;
};

/// @pre the scene is of bonded particles.
inline BondedScene& particles_of(Scene& scene) { return part_of<BondedScene>(scene); }
inline const BondedScene& particles_of(const Scene& scene) { return part_of<BondedScene>(scene); }

/// Whether bonds of a material shrink.
bool corrodes(const Scene& scene);

/// The bonds of a body: the last entry that names it or all; nullptr if none does.
const BondMaterialEntry* find_bond_material(const Scene& scene, const std::string& body);

} // namespace recoil::app
