#pragma once

#include <vector>

#include "linalg/elimination_graph.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Every node of a graph in one aggregate.
struct Aggregates {
  std::vector<idx_t> of_node;
  idx_t count = 0;
};

/// Connected, compact aggregates of about `size` nodes (>= 1) by Lloyd's algorithm for graphs [Bell 2008,
/// Algebraic multigrid for discrete differential forms; Zaman et al. 2024, Generalizing Lloyd's algorithm for
/// graph clustering]: every node belongs to the nearest of the seeds, which lie within groups that were
/// grown one after the other at first (order_by_groups()) and then move to the middle of their aggregates,
/// twice. A component of the graph without a seed is an aggregate. The same in every run. Not collective.
/// Cost O(entries).
Aggregates find_aggregates(const EliminationGraph& graph, double size);

/// The same with the size that multigrid is fastest with (docs/performance.md), two and a half times the
/// nodes that one node couples with, itself included, on average.
Aggregates find_aggregates(const EliminationGraph& graph);

/// Has GAMG with smoothed aggregation coarsen its finest level by find_aggregates() on the nodes of each
/// rank, in place of an independent set of the squared graph [PETSc's -pc_gamg_aggressive_coarsening 1]. That
/// makes aggregates of about the same size, but across ranks, and worse the more ranks there are
/// (docs/performance.md). Other preconditioners stay as they are. Before the set-up; not collective.
void use_compact_aggregates(PC preconditioner);

} // namespace recoil::linalg
