#pragma once

#include <span>
#include <vector>

#include <metis.h>

#include "recoil/linalg/block_matrix.hpp"

namespace recoil::linalg {

/// Two nodes of a symmetric matrix that couple, in any order.
struct Coupling {
  idx_t row, column;
};

/// Which nodes of a symmetric matrix couple, without the diagonal; compressed rows of METIS.
struct EliminationGraph {
  std::vector<idx_t> offsets{0}, neighbours;
  idx_t num_nodes() const { return static_cast<idx_t>(offsets.size()) - 1; }
  void end_row() { offsets.push_back(static_cast<idx_t>(neighbours.size())); }
};

/// The graph of `couplings`, each pair of nodes once; those of nodes with themselves count for nothing. Not
/// collective.
EliminationGraph make_graph(idx_t num_nodes, std::span<const Coupling> couplings);

/// The whole graph by global numbers on rank 0, an empty one elsewhere. Collective.
EliminationGraph gather_graph(const VectorLayout& layout, const NodeGraph& graph);

/// The part of `graph` between the nodes in `nodes`, ascending. Not collective.
EliminationGraph restrict_to(const EliminationGraph& graph, std::span<const GlobalIndex> nodes);

/// METIS's fill-reducing order: the place of every node. The same in every run. Not collective.
/// @throws LibraryError if METIS fails.
std::vector<idx_t> nested_dissection(const EliminationGraph& graph);

/// The graph of groups of nodes, which couple where nodes in them do [George and Liu 1981, chapter 5].
struct QuotientGraph {
  EliminationGraph graph;
  /// Nodes of a group that couple with one other, at most; all where it couples with none. A separator
  /// through groups needs about so many nodes of each.
  std::vector<idx_t> widths;
};

/// Joins nodes in connected groups of up to `most` (> 0), each by a breadth-first search from the first node
/// without a group over nodes without one. Not collective. Cost O(entries).
QuotientGraph join_nodes(const EliminationGraph& graph, idx_t most);

/// The nodes of the same groups, one group after the other. Not collective. Cost O(entries).
std::vector<idx_t> order_by_groups(const EliminationGraph& graph, idx_t most);

/// The same order for groups with their widths as weights, with one pass of refinement at each level.
/// @throws LibraryError if METIS fails.
std::vector<idx_t> nested_dissection(const QuotientGraph& quotient);

/// The nodes of a graph in two parts that do not couple and a separator between them, each ascending.
struct Bisection {
  std::vector<GlobalIndex> left, right, separator;
};

/// Cuts a graph in two by METIS, with a separator of few nodes and parts that are about equal: METIS aims at
/// no more than `imbalance` thousandths above half. Parts may be empty, but none is the whole of a graph of
/// two nodes or more. The same in every run. Not collective. @throws LibraryError if METIS fails.
Bisection bisect(const EliminationGraph& graph, int imbalance);

} // namespace recoil::linalg
