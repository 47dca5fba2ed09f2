#pragma once

#include <span>
#include <vector>

#include <metis.h>

#include "recoil/linalg/block_matrix.hpp"

namespace recoil::linalg {

/// Which nodes of a symmetric matrix couple, without the diagonal; compressed rows of METIS.
struct EliminationGraph {
  std::vector<idx_t> offsets{0}, neighbours;
  idx_t num_nodes() const { return static_cast<idx_t>(offsets.size()) - 1; }
};

/// The whole graph by global numbers on rank 0, an empty one elsewhere. Collective.
EliminationGraph gather_graph(const VectorLayout& layout, const NodeGraph& graph);

/// The part of `graph` between the nodes in `nodes`, ascending. Not collective.
EliminationGraph restrict_to(const EliminationGraph& graph, std::span<const GlobalIndex> nodes);

/// METIS's fill-reducing order: the place of every node. The same in every run. Not collective.
/// @throws LibraryError if METIS fails.
std::vector<idx_t> nested_dissection(const EliminationGraph& graph);

/// Multiplications and additions of the Cholesky factorisation of a matrix with `dim` x `dim` blocks on
/// `graph` whose nodes are eliminated in the order of `places`: the sum of the squared column counts of the
/// factor, which follow from the elimination tree [Liu 1990]. Not collective. Time of the order of the
/// factor's entries divided by dim^2, memory of the order of the graph.
double factorization_work(const EliminationGraph& graph, std::span<const idx_t> places, int dim);

/// The same in the order of nested_dissection(). @throws LibraryError if METIS fails.
double factorization_work(const EliminationGraph& graph, int dim);

} // namespace recoil::linalg
