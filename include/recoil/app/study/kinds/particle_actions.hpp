#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/solvers/bdem/problem.hpp"

/// How parameters of a study act in scenes of bonded particles. Every rank holds all values of a parameter
/// there: one, one per body, bond or step.
namespace recoil::app {

/// The derivatives that are wanted: of `quantity` by the values of a field. Entries count bonds of this
/// rank, numbers of its owned particles, single components of `gravity`, or 6 numbers per owned particle, as
/// tangent vectors have.
struct ParticleWeightsOf {
  const parameters::Quantity& quantity;
  const ParameterField<3>& of_field;
  const solvers::BondedParticles& problem;
  const Scene& of_scene;
  const std::vector<std::vector<LocalIndex>>& held;   ///< prescribed_groups()
  const std::vector<std::vector<LocalIndex>>& loaded; ///< loaded_groups()
  double time;                                        ///< [s]

  const Scene& scene() const { return of_scene; }
  const ParameterField<3>& field() const { return of_field; }
};

/// The scene of bonded particles that values are put into before its problem is built.
struct ParticleInputs {
  Scene& scene;
};

/// A scene with values put in, and its JSON, which is being written.
struct ParticleDraft {
  const Scene& scene;
  nlohmann::json& json;
};

/// What a kind of parameter does in a scene of bonded particles.
struct ParticleActions {
  /// Refuses what does not fit the scene. @throws InputError.
  void (*check)(const ExperimentScene& at, const ParameterSpec& parameter);
  /// Puts values into a scene, and into its resolved form; null where they are put into bonds.
  void (*apply)(const ParameterField<3>& field, FieldValues values, const ParticleInputs& to);
  void (*write)(const ParameterField<3>& field, FieldValues values, ParticleDraft& to);
  std::vector<parameters::Quantity> quantities; ///< that its values change
  /// Gives all derivatives that are not zero. Collective.
  void (*weights)(const ParticleWeightsOf& of, const TakeWeight& take);
  Enters enters = Enters::terms;
  /// Puts values per bond into the constants of all bonds, which the first rank holds.
  void (*apply_to_bonds)(const ParameterField<3>& field, FieldValues values,
                         std::vector<particles::BondConstants>& constants) = nullptr;
  /// What a file of bonds may have in place of values of a material; null: nothing.
  double particles::BondConstants::*of_bond = nullptr;
};

// The actions that rows of the table of kinds name.
extern const ParticleActions bond_young_modulus, bond_poisson_ratio, particle_density, particle_gravity,
    particle_displacement, particle_velocity, particle_spin, particle_motion, force_on_particles,
    particle_friction, bond_tensile_strength, bond_shear_strength, bond_damping_time;

/// How the values of a parameter act; nullptr: bonded particles do not have it.
const ParticleActions* particle_actions_of(const ParameterSpec& parameter);

/// Refuses bodies that are not there, volume ids, and values per element, vertex or node. @throws InputError.
void check_bodies_of_particles(const ExperimentScene& at, const ParameterSpec& parameter);

/// Refuses values of materials for `bodies` whose bonds have their own. @throws InputError.
void require_constants_of_materials(const ParameterFields<3>& fields, const particles::ParticleSet& bodies);

/// Refuses strengths of bonds that do not soften. @throws InputError.
void require_softening(const ExperimentScene& at, const ParameterSpec& parameter);

/// Refuses a parameter that bonded particles do not have, or that does not fit their scene. @throws
/// InputError.
void check_particle_parameter(const ExperimentScene& at, const ParameterSpec& parameter);

/// The fields of experiment `experiment`, a checked scene of bonded particles, whose `bodies` the first rank
/// holds. Collective. @throws InputError on every rank for values per bond of bodies that have none.
ParameterFields<3> make_particle_fields(const parallel::Communicator& comm, const Study& study,
                                        int experiment, const Scene& scene,
                                        const particles::ParticleSet& bodies);

} // namespace recoil::app
