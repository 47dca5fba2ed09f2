#include "recoil/app/study/kinds/particle_actions.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "app/study/kinds/boundary_entries.hpp"
#include "recoil/app/solvers/bonded_particles/particle_moduli.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

using nlohmann::json;
using particles::BondConstants;
using ParticleField = ParameterField<3>;

const std::string& name_of_body(const Scene& scene, std::size_t body) {
  return particles_of(scene).bodies[body].body;
}

/// act(body, its name, its values) for the bodies that a field acts on.
template <class Act>
void for_bodies_of(const ParticleField& field, FieldValues values, const Scene& scene, Act act) {
  const std::size_t width = field.components;
  for (std::size_t body = 0; body < field.slot_of_body.size(); ++body)
    if (const LocalIndex slot = field.slot_of_body[body]; slot >= 0)
      act(name_of_body(scene, body), values.subspan(slot * width, width));
}

std::vector<double> numbers_in(FieldValues values) { return {values.begin(), values.end()}; }

/// act(owned particle, its slot).
template <class Act>
void for_particles_of(const ParticleWeightsOf& of, Act act) {
  const auto& particles = *of.problem.particles;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k)
    if (const LocalIndex slot = of.field().slot_of_body[particles.body[k]]; slot >= 0)
      act(std::size_t(k), std::size_t(slot));
}

// Materials: the last entry that holds for a body counts.

template <auto constant>
void apply_to_bonds(const ParticleField& field, FieldValues values, const ParticleInputs& to) {
  for_bodies_of(field, values, to.scene, [&](const std::string& body, FieldValues value) {
    BondMaterialEntry entry = *find_bond_material(to.scene, body);
    entry.bodies = {body};
    entry.*constant = value[0];
    particles_of(to.scene).materials.push_back(std::move(entry));
  });
}

/// Whether an entry with a `body`, a name or a list of names, or none, holds for one.
bool holds_for(const json& entry, const std::string& body) {
  if (!entry.contains("body")) return true;
  const json& names = entry["body"];
  if (names.is_string()) return names.get<std::string>() == body;
  return holds(names.get<std::vector<std::string>>(), body);
}

void write_bonds(const ParticleField& field, FieldValues values, ParticleDraft& to) {
  json& materials = to.json["materials"];
  if (materials.is_object()) materials = json::array({materials});
  for_bodies_of(field, values, to.scene, [&](const std::string& body, FieldValues value) {
    json entry;
    for (const json& before : materials)
      if (holds_for(before, body)) entry = before;
    entry["body"] = json::array({body});
    entry[field.spec->kind->constant] = value[0];
    materials.push_back(std::move(entry));
  });
}

/// The values of bonds of a body change by `derivative(scene, body)` per value of the parameter.
template <double (*derivative)(const Scene&, const std::string&)>
void bond_weights(const ParticleWeightsOf& of, const TakeWeight& take) {
  const auto& particles = *of.problem.particles;
  std::vector<double> of_bodies;
  for (std::size_t body = 0; body < particles.body_names.size(); ++body)
    of_bodies.push_back(
        of.field().slot_of_body[body] < 0 ? 0 : derivative(of.scene(), particles.body_names[body]));
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond) {
    const auto body = particles.body[particles.bonds[bond].a];
    if (const LocalIndex slot = of.field().slot_of_body[body]; slot >= 0) take(slot, bond, of_bodies[body]);
  }
}

double one(const Scene&, const std::string&) { return 1; }

/// Bonds have nu, and at a macroscopic modulus another E.
void poisson_weights(const ParticleWeightsOf& of, const TakeWeight& take) {
  (of.quantity == potentials::young_modulus_of_bonds ? bond_weights<bond_modulus_by_poisson>
                                                     : bond_weights<one>)(of, take);
}

/// 1 unless the modulus of the scene is macroscopic: bonds are in proportion to it.
double bonds_per_modulus(const Scene& scene, const std::string& body) {
  return bond_modulus(scene, body) / find_bond_material(scene, body)->E;
}

// Strengths.

template <auto strength>
void check_strength(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  require_softening(at, parameter);
  const std::string name = parameter.kind->name;
  for (const ParticleBody& body : particles_of(at.scene).bodies) {
    const BondMaterialEntry& material = *find_bond_material(at.scene, body.body);
    if (parameter.takes_body(body.body) && !(material.*strength))
      at.fail(parameter, "the material of body '" + body.body + "' at " + material.where + " has no `" +
                             name + "` that could be replaced; give it one, or say which `body` is meant");
  }
}

/// The factor by which strengths of a bond scatter.
template <auto of_bonds, auto of_material>
void strength_weights(const ParticleWeightsOf& of, const TakeWeight& take) {
  const auto& particles = *of.problem.particles;
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond) {
    const auto body = particles.body[particles.bonds[bond].a];
    if (const LocalIndex slot = of.field().slot_of_body[body]; slot >= 0)
      take(slot, bond,
           ((*of.problem.strength).*of_bonds)[bond] /
               *(find_bond_material(of.scene(), particles.body_names[body])->*of_material));
  }
}

// Damping.

void check_bond_damping(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  for (const ParticleBody& body : particles_of(at.scene).bodies) {
    const BondMaterialEntry& material = *find_bond_material(at.scene, body.body);
    if (parameter.takes_body(body.body) && material.damping_time == 0)
      at.fail(parameter, "the material of body '" + body.body + "' at " + material.where +
                             " has no `damping_time` that could be replaced; give it one above 0, or say "
                             "which `body` is meant");
  }
}

/// Spins without a centre turn bodies about their common centre of mass, which moves with their densities.
void check_particle_density(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  for (const AngularVelocity& spin : at.scene.initial_conditions.angular_velocity)
    if (!spin.center && spin.region.bodies.size() > 1)
      at.fail(parameter, "the spin at " + spin.region.where +
                             " turns several bodies about their centre of mass, which moves with density, "
                             "and that has no derivative; give the spin a `center`");
  const bool weighs = std::ranges::any_of(at.study.objectives, [&](const auto& objective) {
    return objective->experiment == at.index && objective->type->weighs;
  });
  if (at.scene.time.kind != TimeKind::dynamic && !has_body_force(at.scene) &&
      !has_parameter(at, "body_force") && !weighs)
    at.fail(parameter, "density is not used: the scene has no inertia (it is quasistatic) and no gravity; "
                       "give it `gravity`, or drop the parameter");
}

void density_weights(const ParticleWeightsOf& of, const TakeWeight& take) {
  for_particles_of(of,
                   [&](std::size_t k, std::size_t slot) { take(slot, k, of.problem.particles->volumes[k]); });
}

// Initial displacements and velocities.

void check_particle_start(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  if (at.scene.time.kind != TimeKind::dynamic)
    at.fail(parameter,
            std::string(parameter.kind->name) + " is not used: a quasistatic scene has no inertia");
}

using InitialList = std::vector<InitialField> InitialConditions::*;

template <InitialList list>
void check_initial_list(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_particle_start(at, parameter);
  for (const InitialField& field : at.scene.initial_conditions.*list)
    if (may_overlap(field.region, at.scene, parameter.bodies, {}))
      refuse_replaced(at, parameter, position_dependence(field.value, field.region.where),
                      "space; write numbers there");
}

template <InitialList list>
void apply_initial_list(const ParticleField& field, FieldValues values, const ParticleInputs& to) {
  for_bodies_of(field, values, to.scene, [&](const std::string& body, FieldValues value) {
    InitialField& entry = (to.scene.initial_conditions.*list).emplace_back();
    entry.region = {{}, {body}, field.spec->where.entry};
    entry.value.assign(value.begin(), value.end());
  });
}

template <InitialList list>
void write_initial_list(const ParticleField& field, FieldValues values, ParticleDraft& to) {
  const char* key = list == &InitialConditions::solution ? "solution" : "velocity";
  for_bodies_of(field, values, to.scene, [&](const std::string& body, FieldValues value) {
    to.json["initial_conditions"][key].push_back(
        {{"body", json::array({body})}, {"value", numbers_in(value)}});
  });
}

void velocity_weights_of_particles(const ParticleWeightsOf& of, const TakeWeight& take) {
  for_particles_of(of, [&](std::size_t k, std::size_t slot) {
    for (std::size_t i = 0; i < 3; ++i) take(3 * slot + i, 6 * k + i, 1);
  });
}

/// The derivatives of initial displacements: constrained components start where they are moved to.
void displacement_weights_of_particles(const ParticleWeightsOf& of, const TakeWeight& take) {
  for_particles_of(of, [&](std::size_t k, std::size_t slot) {
    for (std::size_t i = 0; i < 3; ++i)
      if (of.problem.prescribed[6 * k + i] == 0) take(3 * slot + i, 6 * k + i, 1);
  });
}

void check_particle_spin(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_particle_start(at, parameter);
  for (const AngularVelocity& spin : at.scene.initial_conditions.angular_velocity)
    if (spin.region.bodies.size() > 1 && may_overlap(spin.region, at.scene, parameter.bodies, {}))
      at.fail(parameter, "'" + parameter.name + "' would replace part of the spin at " + spin.region.where +
                             "; write one entry with one `body` for every body there");
}

void apply_particle_spin(const ParticleField& field, FieldValues values, const ParticleInputs& to) {
  for_bodies_of(field, values, to.scene, [&](const std::string& body, FieldValues value) {
    replace_spin(body, value, field.spec->where.entry, to.scene);
  });
}

void write_particle_spin(const ParticleField&, FieldValues, ParticleDraft& to) {
  write_spins(to.scene, to.json);
}

/// The centre about which the spin of each body turns it. Collective.
std::vector<Eigen::Vector3d> centres_of_spins(const ParticleWeightsOf& of) {
  const auto& particles = *of.problem.particles;
  std::vector<double> moments(4 * particles.body_names.size(), 0.0);
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    double* own = &moments[4 * std::size_t(particles.body[k])];
    for (int i = 0; i < 3; ++i) own[i] += of.problem.mass[k] * particles.positions[k][i];
    own[3] += of.problem.mass[k];
  }
  particles.points->comm->sum(moments);
  std::vector<Eigen::Vector3d> centres;
  for (std::size_t body = 0; body < particles.body_names.size(); ++body) {
    const double* own = &moments[4 * body];
    centres.push_back(Eigen::Vector3d(own[0], own[1], own[2]) / own[3]);
    for (const AngularVelocity& spin : of.scene().initial_conditions.angular_velocity)
      if (spin.center && spin.region.bodies == std::vector{particles.body_names[body]})
        centres.back() = *spin.center;
  }
  return centres;
}

/// v = w x (X - centre), and r w in the axes of the particle, which are those of space at rest.
void spin_weights_of_particles(const ParticleWeightsOf& of, const TakeWeight& take) {
  const auto& particles = *of.problem.particles;
  const std::vector<Eigen::Vector3d> centres = centres_of_spins(of);
  for_particles_of(of, [&](std::size_t k, std::size_t slot) {
    const Eigen::Vector3d arm = particles.positions[k] - centres[particles.body[k]];
    for (int c = 0; c < 3; ++c) {
      const Eigen::Vector3d velocity = Eigen::Vector3d::Unit(c).cross(arm);
      for (int i = 0; i < 3; ++i) take(3 * slot + c, 6 * k + i, velocity[i]);
      take(3 * slot + c, 6 * k + 3 + c, particles.radii[k]);
    }
  });
}

// Prescribed displacements.

void check_particle_motion(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (is_per_place(parameter.per))
    at.fail(parameter.where, "per", "bonded particles have one value for all of an id; leave this out");
  const auto& entries = at.scene.boundary_conditions.dirichlet;
  const DirichletEntry& entry =
      find_entry(at, parameter, entries, "boundary_conditions/dirichlet_boundary", "");
  refuse_varying(at, parameter, position_dependence(entry), "space; write numbers or formulas of t there",
                 time_dependence(entry),
                 "time; write \"per_step\": true, or a number there with an `interpolation`");
  refuse_shared_entries(at, parameter, entries);
}

/// The derivatives of prescribed motions: of several entries of a particle, the last one says what is
/// constrained and how it moves.
void motion_weights_of_particles(const ParticleWeightsOf& of, const TakeWeight& take) {
  const ParameterSpec& spec = *of.field().spec;
  const auto& entries = of.scene().boundary_conditions.dirichlet;
  std::vector<char> done(6 * std::size_t(of.problem.particles->num_owned()), 0);
  for (std::size_t e = entries.size(); e-- > 0;)
    for (const LocalIndex k : of.held[e])
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t at = 6 * std::size_t(k) + i;
        if (std::exchange(done[at], 1) != 0 || !entries[e].value[i].constrained || !spec.sets(entries[e]))
          continue;
        const double factor = spec.per_step ? 1 : time_factor(entries[e].interpolation, int(i), of.time);
        for (const auto& [step, weight] : step_weights(spec, of.scene().time, of.time))
          take(3 * step + i, at, weight * factor);
      }
}

// Forces.

bool sets_force(const ParameterSpec& spec, const ParticleForce& force) {
  return holds(force.ids, *spec.boundary);
}

void check_particle_force(const ExperimentScene& at, const ParameterSpec& parameter) {
  std::set<int> ids;
  for (const ParticleForce& entry : particles_of(at.scene).forces) {
    ids.insert(entry.ids.begin(), entry.ids.end());
    if (!sets_force(parameter, entry)) continue;
    refuse_replaced(at, parameter, time_dependence(entry.value, entry.where), "time; write numbers there");
    for (const ParameterSpec& other : at.study.parameters) {
      if (&other == &parameter) break;
      if (other.kind == parameter.kind && other.acts_in(at.index) && sets_force(other, entry))
        at.fail(parameter.where, "boundary",
                "'" + parameter.name + "' and '" + other.name + "' would both set the value of " +
                    entry.where + "; split it into one entry for each");
    }
  }
  if (!ids.contains(*parameter.boundary))
    at.fail(parameter.where, "boundary",
            "there are no boundary_conditions/particle_forces with the id " +
                std::to_string(*parameter.boundary) + "; ids there: " + list_of(ids) +
                "; add an entry with this id, its value may be zero");
}

void apply_particle_force(const ParticleField& field, FieldValues values, const ParticleInputs& to) {
  for (ParticleForce& force : particles_of(to.scene).forces)
    if (sets_force(*field.spec, force)) force.value.assign(values.begin(), values.end());
}

void write_particle_force(const ParticleField& field, FieldValues values, ParticleDraft& to) {
  for (std::size_t i = 0; i < particles_of(to.scene).forces.size(); ++i)
    if (sets_force(*field.spec, particles_of(to.scene).forces[i]))
      to.json["boundary_conditions"]["particle_forces"][i]["value"] = numbers_in(values);
}

/// The particles of an entry share its force.
void force_weights(const ParticleWeightsOf& of, const TakeWeight& take) {
  const parallel::Communicator& comm = *of.problem.particles->points->comm;
  for (std::size_t i = 0; i < of.loaded.size(); ++i) {
    if (!sets_force(*of.field().spec, particles_of(of.scene()).forces[i])) continue;
    const double share = 1.0 / double(comm.sum(GlobalIndex(of.loaded[i].size())));
    for (const LocalIndex k : of.loaded[i])
      for (std::size_t c = 0; c < 3; ++c) take(c, 3 * std::size_t(k) + c, share);
  }
}

// Gravity.

void check_particle_gravity(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  if (parameter.per != Per::global || !parameter.bodies.empty())
    at.fail(parameter.where, parameter.bodies.empty() ? "per" : "body",
            "bonded particles have one gravity for all bodies; leave this out");
}

void apply_particle_gravity(const ParticleField&, FieldValues values, const ParticleInputs& to) {
  to.scene.gravity = numbers_in(values);
}

void write_particle_gravity(const ParticleField&, FieldValues values, ParticleDraft& to) {
  to.json["gravity"] = numbers_in(values);
}

void gravity_weights(const ParticleWeightsOf&, const TakeWeight& take) {
  for (std::size_t i = 0; i < 3; ++i) take(i, i, 1);
}

// Slots.

/// A slot per bond of the bodies that a field acts on, from the first rank. Collective.
void make_bond_slots(const parallel::Communicator& comm, const particles::ParticleSet& bodies,
                     ParticleField& field) {
  for (std::size_t bond = 0; bond < bodies.bonds.size(); ++bond)
    if (field.slot_of_body[bodies.body[bodies.bonds[bond][0]]] >= 0) field.slot_ids.push_back(bond);
  comm.broadcast(field.slot_ids);
  if (field.slot_ids.empty())
    SlotBuilder<3>::refuse(*field.spec, "per",
                           "its bodies have no bonds; name others in `body`, or give bodies bonds by "
                           "`bond_tolerance` or `bonds` of their `particles`");
  field.extent = ParticleField::Extent::bonds;
  field.num_owned_slots = comm.rank() == 0 ? field.slot_ids.size() : 0;
  field.num_rows = comm.max(GlobalIndex(bodies.bonds.size()));
}

} // namespace

namespace by = parameters::quantities;

const ParticleActions bond_young_modulus{.check = check_bodies_of_particles,
                                         .apply = apply_to_bonds<&BondMaterialEntry::E>,
                                         .write = write_bonds,
                                         .quantities = {potentials::young_modulus_of_bonds},
                                         .weights = bond_weights<bonds_per_modulus>,
                                         .of_bond = &BondConstants::young_modulus};
const ParticleActions bond_poisson_ratio{
    .check =
        [](const ExperimentScene& at, const ParameterSpec& parameter) {
          check_bodies_of_particles(at, parameter);
          refuse_incompressible(parameter, "bonds");
        },
    .apply = apply_to_bonds<&BondMaterialEntry::nu>,
    .write = write_bonds,
    .quantities = {potentials::poisson_ratio_of_bonds, potentials::young_modulus_of_bonds},
    .weights = poisson_weights,
    .of_bond = &BondConstants::poisson_ratio};
const ParticleActions bond_tensile_strength{
    .check = check_strength<&BondMaterialEntry::tensile_strength>,
    .apply = apply_to_bonds<&BondMaterialEntry::tensile_strength>,
    .write = write_bonds,
    .quantities = {solvers::tensile_strength},
    .weights = strength_weights<&solvers::BondStrength::tensile, &BondMaterialEntry::tensile_strength>,
    .of_bond = &BondConstants::tensile_strength};
const ParticleActions bond_shear_strength{
    .check = check_strength<&BondMaterialEntry::shear_strength>,
    .apply = apply_to_bonds<&BondMaterialEntry::shear_strength>,
    .write = write_bonds,
    .quantities = {solvers::shear_strength},
    .weights = strength_weights<&solvers::BondStrength::shear, &BondMaterialEntry::shear_strength>,
    .of_bond = &BondConstants::shear_strength};
const ParticleActions bond_damping_time{check_bond_damping,
                                        apply_to_bonds<&BondMaterialEntry::damping_time>,
                                        write_bonds,
                                        {potentials::damping_time_of_bonds},
                                        bond_weights<one>};
const ParticleActions particle_density{check_particle_density,
                                       apply_to_bonds<&BondMaterialEntry::rho>,
                                       write_bonds,
                                       {solvers::particle_mass},
                                       density_weights};
const ParticleActions particle_gravity{check_particle_gravity,
                                       apply_particle_gravity,
                                       write_particle_gravity,
                                       {solvers::gravity_vector},
                                       gravity_weights};
const ParticleActions particle_velocity{check_initial_list<&InitialConditions::velocity>,
                                        apply_initial_list<&InitialConditions::velocity>,
                                        write_initial_list<&InitialConditions::velocity>,
                                        {by::velocity},
                                        velocity_weights_of_particles,
                                        Enters::initial};
const ParticleActions particle_displacement{check_initial_list<&InitialConditions::solution>,
                                            apply_initial_list<&InitialConditions::solution>,
                                            write_initial_list<&InitialConditions::solution>,
                                            {by::displacement},
                                            displacement_weights_of_particles,
                                            Enters::initial};
const ParticleActions particle_spin{check_particle_spin, apply_particle_spin,       write_particle_spin,
                                    {by::velocity},      spin_weights_of_particles, Enters::initial};
const ParticleActions particle_motion{
    check_particle_motion,       apply_to_entries<&BoundaryConditions::dirichlet>,
    write_dirichlet_entries,     {by::displacement},
    motion_weights_of_particles, Enters::prescribed};
const ParticleActions force_on_particles{check_particle_force, apply_particle_force,
                                         write_particle_force, {solvers::particle_loads},
                                         force_weights,        Enters::loads};

void check_bodies_of_particles(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_deformable(at, parameter.bodies, parameter.where.of("body"));
  if (!parameter.regions.empty())
    at.fail(parameter.where, "region", "particles have no volume ids; say which `body` is meant");
  if (parameter.per == Per::bond && particles_of(at.scene).periodic)
    at.fail(parameter.where, "per",
            "values of each bond are written to files of particles and bonds, which hold no cell (" +
                particles_of(at.scene).periodic->where + "); write \"body\" or \"global\"");
  if (!is_per_place(parameter.per) || parameter.per == Per::bond) return;
  const bool of_bonds = holds(parameter.kind->per, Per::bond);
  at.fail(parameter.where, "per",
          std::string("bonded particles have one value, or one per body") + (of_bonds ? " or bond" : "") +
              "; write \"global\"" + (of_bonds ? ", \"body\" or \"bond\"" : " or \"body\""));
}

const ParticleActions* particle_actions_of(const ParameterSpec& parameter) {
  const ParticleActions* of_row = parameter.kind->row_for(parameter.per).on_particles;
  return of_row ? of_row : parameter.kind->on_particles;
}

void check_particle_parameter(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (const ParticleActions* actions = particle_actions_of(parameter)) return actions->check(at, parameter);
  std::vector<std::string> possible;
  for (const ParameterKind& kind : parameter_kinds())
    if (kind.on_particles) possible.emplace_back(kind.name);
  at.fail(parameter, std::string(parameter.kind->name) +
                         " belongs to finite elements; this scene of bonded particles can have " +
                         list_names(possible, "and") +
                         "; take one of them, or say by `experiment` which scenes are meant");
}

ParameterFields<3> make_particle_fields(const parallel::Communicator& comm, const Study& study,
                                        int experiment, const Scene& scene,
                                        const particles::ParticleSet& bodies) {
  ParameterFields<3> fields;
  for (std::size_t i = 0; i < study.parameters.size(); ++i) {
    const ParameterSpec& spec = study.parameters[i];
    if (!spec.acts_in(experiment)) continue;
    ParticleField& field = fields.emplace_back();
    field.spec = &spec;
    field.index = i;
    field.components = num_components(spec.kind->components, 3);
    LocalIndex count = 0;
    for (const ParticleBody& body : particles_of(scene).bodies) {
      const bool acts = spec.takes_body(body.body);
      field.slot_of_body.push_back(!acts ? -1 : spec.per == Per::body ? count++ : 0);
      if (acts && spec.per == Per::body) field.slot_names.push_back(body.body);
    }
    if (spec.per == Per::bond)
      make_bond_slots(comm, bodies, field);
    else
      SlotBuilder<3>::replicate(field,
                                spec.per == Per::body ? std::size_t(count) : num_steps_of(spec, scene.time));
  }
  return fields;
}

} // namespace recoil::app
