#include "solvers/bdem/stress_ratio.hpp"

#include <algorithm>
#include <numbers>

namespace recoil::solvers {

namespace {

using potentials::BondForces;

/// The terms of the stresses at the rim of the section over the forces that they are of.
BondForces stress_per_force(const BondedParticles& problem, LocalIndex bond, double r) {
  const double area = std::numbers::pi * r * r, inertia = area * r * r / 4,
               moments = problem.bonds->form(bond).stress_moments();
  return {1 / area, 1 / area, moments * r / (2 * inertia), moments * r / inertia};
}

BondForces terms_of(const BondForces& per_force, const BondForces& forces) {
  return {per_force.normal * forces.normal, per_force.shear * forces.shear, per_force.twist * forces.twist,
          per_force.bending * forces.bending};
}

} // namespace

std::array<double, 2> bond_stresses(const BondedParticles& problem, LocalIndex bond, const BondForces& forces,
                                    double radius) {
  const BondForces terms = terms_of(stress_per_force(problem, bond, radius), forces);
  return {terms.normal + terms.bending, terms.shear + terms.twist};
}

StressRatio stress_ratio(const BondedParticles& problem, LocalIndex bond, const BondForces& forces) {
  const BondForces per_force = stress_per_force(problem, bond, problem.bonds->section_radius(bond)),
                   terms = terms_of(per_force, forces);
  const BondStrength& strength = *problem.strength;
  const bool separate = strength.separate_terms[bond] != 0;
  const double tensile = strength.tensile[bond],
               cohesion = strength.shear[bond] + strength.tan_friction[bond] * std::max(-terms.normal, 0.0);
  const double tension = (separate ? std::max(terms.normal, terms.bending) : terms.normal + terms.bending) /
                         tensile,
               shear = (separate ? std::max(terms.shear, terms.twist) : terms.shear + terms.twist) / cohesion;
  StressRatio ratio;
  ratio.by_tension = tension >= shear;
  ratio.value = ratio.by_tension ? tension : shear;
  if (ratio.by_tension) {
    if (!separate || terms.normal >= terms.bending) ratio.by_forces.normal = per_force.normal / tensile;
    if (!separate || terms.normal < terms.bending) ratio.by_forces.bending = per_force.bending / tensile;
    ratio.by_tensile = -tension / tensile;
    return ratio;
  }
  if (!separate || terms.shear >= terms.twist) ratio.by_forces.shear = per_force.shear / cohesion;
  if (!separate || terms.shear < terms.twist) ratio.by_forces.twist = per_force.twist / cohesion;
  if (terms.normal < 0)
    ratio.by_forces.normal = shear / cohesion * strength.tan_friction[bond] * per_force.normal;
  ratio.by_shear = -shear / cohesion;
  return ratio;
}

} // namespace recoil::solvers
