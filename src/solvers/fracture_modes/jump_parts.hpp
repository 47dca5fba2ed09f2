#pragma once

#include <span>
#include <vector>

#include "solvers/fracture_modes/jump_problem.hpp"

namespace recoil::solvers::fracture_modes {

/// Connected parts of the nodes of a JumpProblem.
struct JumpParts {
  std::vector<int> of_local;  ///< part of each local node, numbered by smallest ids
  std::vector<double> masses; ///< of the parts, on every rank
};

/// Parts that links with a flag (one per link) and elements connect. Collective.
JumpParts connected_parts(const JumpProblem& problem, std::span<const char> joined);

/// The rule that a fault leaves parts of at least some share of the mass of their component.
class LeastParts {
public:
  /// Collective, as are all members. The problem must outlive it.
  LeastParts(const JumpProblem& problem, double least_share);

  /// Lets small parts of a set of nodes (flags of local nodes), and of the rest, change sides, from the
  /// smallest one on.
  void absorb(std::vector<char>& inside) const;
  /// Closes links between small parts and the neighbour to which most leads, until none is small. Links with
  /// a flag in `passable` neither part nor are they closed.
  void close(std::span<const char> passable, std::vector<char>& closed) const;

private:
  double least_mass(int component) const;
  bool is_small(const JumpParts& parts, int part, const std::vector<int>& component) const;
  std::vector<int> components_of(const JumpParts& parts) const;

  const JumpProblem* problem_;
  double least_share_;
  JumpParts components_;
};

} // namespace recoil::solvers::fracture_modes
