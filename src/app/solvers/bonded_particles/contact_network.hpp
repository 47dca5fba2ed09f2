#pragma once

#include <array>
#include <vector>

#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// Number of particles that each owned one is bonded to, or pressed against. Collective.
std::vector<double> coordination_numbers(const solvers::BondedParticles& problem);

/// Two particles that press on each other, or one and an obstacle.
struct ContactRow {
  GlobalIndex a, b;                    ///< ids; b = -1: an obstacle
  std::int32_t body;                   ///< of b, or of the obstacle
  double gap, force;                   ///< [m], [N], of the law of contact alone
  std::array<double, 3> normal, place; ///< from b, or its image, to a; of the contact, in the cell [m]
  std::array<double, 3> tangential;    ///< force of the spring along the contact on a [N]; 0 without
};

/// The pairs of this rank that press on each other, by the ids of their ends. Collective.
std::vector<ContactRow> pressing_contacts(const solvers::BondedParticles& problem);

} // namespace recoil::app
