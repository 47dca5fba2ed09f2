#pragma once

#include <array>
#include <span>
#include <vector>

#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::solvers {

/// What a bond bears at u: sigma and tau [Pa].
std::array<double, 2> bond_stresses(const BondedParticles& problem, LocalIndex bond,
                                    std::span<const double> u);

/// Breaks the bonds of which the largest ratio of stress to strength at u is at least 1 and at least `share`
/// of that of the worst one. Both ends of a bond see the same numbers, so that all its ranks agree.
/// Collective. @returns those that this rank counts.
std::vector<BrokenBond> break_overstressed(BondedParticles& problem, std::span<const double> u, double share,
                                           double time);

/// Breaks these bonds of this rank, as all ranks that hold them must. Not collective. @returns those that
/// this rank counts.
std::vector<BrokenBond> break_bonds(BondedParticles& problem, std::span<const LocalIndex> bonds,
                                    std::span<const double> u, double time);

} // namespace recoil::solvers
