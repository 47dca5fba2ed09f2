#pragma once

#include <span>
#include <vector>

#include "recoil/solvers/fracture_modes/element_graph.hpp"

namespace recoil::solvers::fracture_modes {

/// Pieces, each one or more elements, and what it costs to part them. Serial, equal on all ranks.
struct PieceGraph {
  struct Link {
    int a, b;      ///< pieces, a < b
    double weight; ///< sum of the weights of the faces between them
  };
  std::vector<double> masses;
  std::vector<Link> links; ///< in ascending order of (a, b), each pair once
  int size() const { return static_cast<int>(masses.size()); }
};

/// The pieces that are left when elements are joined.
struct GatheredPieces {
  PieceGraph graph;
  std::vector<int> of_local; ///< piece of each local element of this rank
};

/// Joins the elements on both sides of faces with a flag (one per face of this rank, the same on both ranks
/// of a face) and gathers what comes out on every rank. Pieces are numbered by their smallest input id of an
/// element: the graph does not depend on the ranks, but for the rounding in the sums of pieces that lie on
/// several. Collective.
/// @note Memory O(pieces + links) on every rank.
GatheredPieces gather_pieces(const ElementGraph& elements, std::span<const char> joined);

/// Sum of `values` (one per owned element) over each piece, on every rank. Collective.
std::vector<double> sum_over_pieces(const ElementGraph& elements, const GatheredPieces& pieces,
                                    std::span<const double> values);

/// Number of the connected component of each piece, in the order of their first pieces. Not collective.
std::vector<int> components(const PieceGraph& graph);

/// sum of weight |x_a - x_b| over the links. Not collective.
double discontinuity_energy(const PieceGraph& graph, std::span<const double> field);

} // namespace recoil::solvers::fracture_modes
