#pragma once

#include <array>
#include <span>

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// sigma and tau of forces that a bond transmits [Pa], as in BondStrength, in a section of this radius [m].
std::array<double, 2> bond_stresses(const BondedParticles& problem, LocalIndex bond,
                                    const potentials::BondForces& forces, double radius);
/// In the section that the bond has.
inline std::array<double, 2> bond_stresses(const BondedParticles& problem, LocalIndex bond,
                                           const potentials::BondForces& forces) {
  return bond_stresses(problem, bond, forces, problem.bonds->section_radius(bond));
}

/// The larger ratio of stress to strength of a bond: sigma / tensile, or tau / (shear + tan_friction *
/// (compressive stress)).
struct StressRatio {
  double value = 0;
  bool by_tension = true; ///< else by shear
  // Its derivatives by what it is a function of; that of the larger ratio, and term, where two are equal.
  potentials::BondForces by_forces;    ///< [1/N], [1/(N m)]
  double by_tensile = 0, by_shear = 0; ///< by the strengths [1/Pa]
};

/// The stress ratio of forces that a bond transmits. @pre the problem has strengths.
StressRatio stress_ratio(const BondedParticles& problem, LocalIndex bond,
                         const potentials::BondForces& forces);

} // namespace recoil::solvers
