#pragma once

#include <vector>

#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::solvers {

/// Breaks the bonds of which the largest ratio of stress to strength at u is at least 1 and at least `share`
/// of that of the worst one. Both ends of a bond see the same numbers, so that all its ranks agree.
/// Collective. @returns those that this rank counts.
std::vector<BrokenBond> break_overstressed(BondedParticles& problem, std::span<const double> u, double share,
                                           double time);

} // namespace recoil::solvers
