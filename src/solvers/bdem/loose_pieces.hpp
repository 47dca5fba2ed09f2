#pragma once

#include <string>

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// Says which piece of the bodies, as bonds hold them together now, can move as a whole at u because nothing
/// holds it: no prescribed motion of its particles and nothing that it touches. Where prescribed motion, and
/// images of itself that it is bonded to in a cell that repeats, leave it free to shift or turn in some way
/// it says so. Empty if there is none. The largest one is named, of those of one size the one with the
/// smallest particle. Contact must be up to date. Collective.
std::string describe_loose_piece(const BondedParticles& problem, std::span<const double> u);

/// "particle 7 of 'bar' at (0.1, 0, 0)": an owned particle and where it is at u. Not collective.
std::string describe_particle(const BondedParticles& problem, std::span<const double> u, LocalIndex particle);

} // namespace recoil::solvers
