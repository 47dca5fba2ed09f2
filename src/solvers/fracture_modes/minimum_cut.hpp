#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recoil/solvers/fracture_modes/piece_graph.hpp"

namespace recoil::solvers::fracture_modes {

/// Minimum cuts of a piece graph, by the algorithm of Boykov and Kolmogorov [2004]. Serial.
class MinimumCut {
public:
  explicit MinimumCut(const PieceGraph& graph);
  MinimumCut(MinimumCut&&) noexcept;
  ~MinimumCut();

  /// The set S of pieces with the largest h(S) - scale cut(S), h(S) the sum of `gains` over S and cut(S) that
  /// of the weights of links that leave it: a flag per piece. All zero where nothing beats the empty set.
  std::vector<char> best_set(std::span<const double> gains, double scale);

private:
  struct Network;
  std::unique_ptr<Network> network_;
};

} // namespace recoil::solvers::fracture_modes
