#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solvers/fracture_modes/jump_problem.hpp"

namespace recoil::solvers::fracture_modes {

/// A minimum of the convex problem of JumpAdmm among fields that do not jump across closed links.
struct Polished {
  linalg::Vector field; ///< satisfies the conditions to rounding; ghosts are current
  double energy = 0;
  int pieces = 0; ///< sets of nodes with one value each
};

/// Glues the nodes at closed links and minimises E(v) with u_j' M v = 0 for all u_j in `orthogonal` and c' M
/// v = 1 over the values that are left, by Newton's method with an exact line search, from the means of
/// `start` over what is glued. Where a search ends at a kink, a jump that has become zero, that link is
/// closed, too: the search goes on in fewer unknowns, as the simplex method does among the vertices of a
/// polyhedron. Dense and the same on every rank. Nothing where more than `most_numbers` numbers are left or
/// no field satisfies the conditions. Collective.
std::optional<Polished> polish(const JumpProblem& problem, std::span<const char> closed,
                               const linalg::Vector& start, std::span<const linalg::Vector> orthogonal,
                               std::span<const linalg::Vector> more_orthogonal, const linalg::Vector& c,
                               int most_numbers);

} // namespace recoil::solvers::fracture_modes
