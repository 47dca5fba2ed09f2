#include <algorithm>
#include <cmath>

#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"
#include "recoil/base/error.hpp"

/// Moduli and strengths with a value for each bond.
namespace recoil::app {
namespace {

using particles::BondConstants;

void check_moduli_of_bonds(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  for (const ParticleBody& body : particles_of(at.scene).bodies) {
    const BondMaterialEntry& material = *find_bond_material(at.scene, body.body);
    if (parameter.takes_body(body.body) && material.macroscopic)
      at.fail(
          parameter.where, "per",
          "the material of body '" + body.body + "' at " + material.where +
              " has \"moduli\": \"macro\", and a lattice whose bonds have values of their own has no such "
              "moduli; write \"bonds\" there and the modulus of the bonds, which `recoil validate` tells");
  }
}

void check_strengths_of_bonds(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  require_softening(at, parameter);
}

template <double BondConstants::*constant>
void apply_to_constants(const ParameterField<3>& field, FieldValues values,
                        std::vector<BondConstants>& constants) {
  for (std::size_t slot = 0; slot < values.size(); ++slot)
    constants[field.slot_ids[slot]].*constant = values[slot];
}

void weights_per_bond(const ParticleWeightsOf& of, const TakeWeight& take) {
  const auto& bonds = of.problem.particles->bonds;
  const std::vector<GlobalIndex>& ids = of.field().slot_ids;
  for (std::size_t bond = 0; bond < bonds.size(); ++bond)
    if (const auto at = std::ranges::lower_bound(ids, bonds[bond].id);
        at != ids.end() && *at == bonds[bond].id)
      take(at - ids.begin(), bond, 1);
}

template <double BondConstants::*constant>
ParticleActions actions_per_bond(void (*check)(const ExperimentScene&, const ParameterSpec&),
                                 const parameters::Quantity& quantity) {
  return {check, nullptr, nullptr, {quantity}, weights_per_bond, Enters::terms, apply_to_constants<constant>};
}

const ParticleActions young_modulus_per_bond = actions_per_bond<&BondConstants::young_modulus>(
    check_moduli_of_bonds, potentials::young_modulus_of_bonds);
const ParticleActions poisson_ratio_per_bond = actions_per_bond<&BondConstants::poisson_ratio>(
    [](const ExperimentScene& at, const ParameterSpec& parameter) {
      check_moduli_of_bonds(at, parameter);
      refuse_incompressible(parameter, "bonds");
    },
    potentials::poisson_ratio_of_bonds);
const ParticleActions tensile_strength_per_bond =
    actions_per_bond<&BondConstants::tensile_strength>(check_strengths_of_bonds, solvers::tensile_strength);
const ParticleActions shear_strength_per_bond =
    actions_per_bond<&BondConstants::shear_strength>(check_strengths_of_bonds, solvers::shear_strength);

ParameterKind per_bond(const char* name, const char* unit, const ParticleActions& actions) {
  return {.name = name,
          .unit = unit,
          .per = {Per::bond},
          .check =
              [](const ExperimentScene& at, const ParameterSpec& parameter) {
                at.fail(parameter.where, "per",
                        std::string("bonds are of bonded particles, and this scene is of finite elements; ") +
                            (parameter.kind->is_strength ? "" : "write \"element\", or ") +
                            "say by `experiment` which scenes are meant");
              },
          .by_dimension = {},
          .on_particles = &actions};
}

ParameterKind of_materials(const char* name, const char* unit, const char* doc,
                           const ParticleActions& actions) {
  return {.name = name,
          .unit = unit,
          .takes = {"body", "per"},
          .per = {Per::global, Per::body},
          .range = positive,
          .doc = doc,
          .constant = name,
          .check =
              [](const ExperimentScene& at, const ParameterSpec& parameter) {
                at.fail(parameter,
                        std::string(parameter.kind->name) +
                            " is of bonded particles, and this scene is of finite elements; say by "
                            "`experiment` which scenes are meant");
              },
          .by_dimension = {},
          .on_particles = &actions};
}

ParameterKind strength(const char* name, const char* doc, const ParticleActions& actions) {
  ParameterKind kind = of_materials(name, "Pa", doc, actions);
  kind.is_strength = true;
  return kind;
}

} // namespace

void require_constants_of_materials(const ParameterFields<3>& fields, const particles::ParticleSet& bodies) {
  for (std::size_t bond = 0; bond < bodies.bond_constants.size(); ++bond)
    for (const ParameterField<3>& field : fields) {
      const auto of_bond = particle_actions_of(*field.spec)->of_bond;
      const std::int32_t body = bodies.body[bodies.bonds[bond][0]];
      if (!of_bond || field.slot_of_body[body] < 0 || std::isnan(bodies.bond_constants[bond].*of_bond))
        continue;
      throw InputError(field.spec->where.of("quantity"),
                       std::string(field.spec->kind->name) + " of body '" + bodies.body_names[body] +
                           "' is not used: the file of its bonds has a column `" +
                           field.spec->kind->constant +
                           "`; leave the column out, write \"per\": \"bond\", or say by `body` which "
                           "others are meant");
    }
}

void require_softening(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (particles_of(at.scene).solver.damage_width == 0)
    at.fail(parameter, std::string(parameter.kind->name) +
                           " has a derivative only where bonds soften: " + at.scene.file.string() +
                           " has no solver/bonded_particles/damage_width, and bonds that break at once have "
                           "none; give it one, 0.1 say");
}

std::vector<ParameterKind> bond_constants_parameters() {
  return {
      strength("tensile_strength",
               "`tensile_strength` of bonded particles, in scenes with a `damage_width`; each bond has its "
               "Weibull factor times the value, or, per bond, the value itself.",
               bond_tensile_strength),
      strength("shear_strength", "`shear_strength`, likewise.", bond_shear_strength),
      of_materials("damping_time", "s", "`damping_time` of bonded particles, in materials that have one.",
                   bond_damping_time),
      per_bond("young_modulus", "Pa", young_modulus_per_bond),
      per_bond("poisson_ratio", nullptr, poisson_ratio_per_bond),
      per_bond("tensile_strength", "Pa", tensile_strength_per_bond),
      per_bond("shear_strength", "Pa", shear_strength_per_bond)};
}

} // namespace recoil::app
