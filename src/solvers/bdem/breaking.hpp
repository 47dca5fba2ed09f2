#pragma once

#include <span>
#include <vector>

#include "recoil/solvers/bdem/solver.hpp"
#include "recoil/solvers/bdem/stress_corrosion.hpp"

namespace recoil::solvers {

/// What is told of a bond that breaks at u, with the stresses and the energy that it has just now.
BrokenBond record_of_break(const BondedParticles& problem, LocalIndex bond, bool by_tension,
                           std::span<const double> u, double time);

/// Breaks the bonds of which the largest ratio of stress to strength at u is at least 1 and at least `share`
/// of that of the worst one. Both ends of a bond see the same numbers, so that all its ranks agree.
/// Collective. @returns those that this rank counts.
std::vector<BrokenBond> break_overstressed(BondedParticles& problem, std::span<const double> u, double share,
                                           double time);

/// Breaks these bonds of this rank, as all ranks that hold them must. Not collective. @returns those that
/// this rank counts.
std::vector<BrokenBond> break_bonds(BondedParticles& problem, std::span<const LocalIndex> bonds,
                                    std::span<const double> u, double time);

/// Severs these bonds, which all their ranks must, as broken by tension where their sections have shrunk. The
/// forces and the energy of records are those with the sections that the step had. @returns those that this
/// rank counts. Not collective.
std::vector<BrokenBond> break_corroded(BondedParticles& problem, std::span<const CorrodedBond> bonds,
                                       std::span<const double> u, double time);

} // namespace recoil::solvers
