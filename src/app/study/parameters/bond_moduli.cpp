#include <algorithm>

#include "app/study/parameters/particle_actions.hpp"
#include "app/study/scene_checks.hpp"

/// Young's modulus and Poisson's ratio with a value for each bond.
namespace recoil::app {
namespace {

using particles::BondModuli;

void check_moduli_of_bonds(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_bodies_of_particles(at, parameter);
  for (const ParticleBody& body : at.scene.particle_bodies) {
    const BondMaterialEntry& material = *find_bond_material(at.scene, body.body);
    if (parameter.takes_body(body.body) && material.macroscopic)
      at.fail(
          parameter.where, "per",
          "the material of body '" + body.body + "' at " + material.where +
              " has \"moduli\": \"macro\", and a lattice whose bonds have values of their own has no such "
              "moduli; write \"bonds\" there and the modulus of the bonds, which `recoil validate` tells");
  }
}

template <double BondModuli::*modulus>
void apply_to_moduli(const ParameterField<3>& field, FieldValues values, std::vector<BondModuli>& moduli) {
  for (std::size_t slot = 0; slot < values.size(); ++slot)
    moduli[field.slot_ids[slot]].*modulus = values[slot];
}

void weights_per_bond(const ParticleWeightsOf& of, const TakeWeight& take) {
  const auto& bonds = of.problem.particles->bonds;
  const std::vector<GlobalIndex>& ids = of.field.slot_ids;
  for (std::size_t bond = 0; bond < bonds.size(); ++bond)
    if (const auto at = std::ranges::lower_bound(ids, bonds[bond].id);
        at != ids.end() && *at == bonds[bond].id)
      take(at - ids.begin(), bond, 1);
}

const ParticleActions young_modulus_per_bond{check_moduli_of_bonds,
                                             nullptr,
                                             nullptr,
                                             {{ParticleQuantity::young_modulus, weights_per_bond}},
                                             apply_to_moduli<&BondModuli::young_modulus>};
const ParticleActions poisson_ratio_per_bond{check_moduli_of_bonds,
                                             nullptr,
                                             nullptr,
                                             {{ParticleQuantity::poisson_ratio, weights_per_bond}},
                                             apply_to_moduli<&BondModuli::poisson_ratio>};

ParameterKind per_bond(const char* name, const char* unit, const ParticleActions& actions) {
  return {.name = name,
          .unit = unit,
          .per = {Per::bond},
          .check =
              [](const ExperimentScene& at, const ParameterSpec& parameter) {
                at.fail(parameter.where, "per",
                        "bonds are of bonded particles, and this scene is of finite elements; write "
                        "\"element\", or say by `experiment` which scenes are meant");
              },
          .by_dimension = {},
          .on_particles = &actions};
}

} // namespace

std::vector<ParameterKind> bond_moduli_parameters() {
  return {per_bond("young_modulus", "Pa", young_modulus_per_bond),
          per_bond("poisson_ratio", nullptr, poisson_ratio_per_bond)};
}

} // namespace recoil::app
