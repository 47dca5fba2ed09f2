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
/// graph clustering]: every node belongs to the nearest of the seeds, which are evenly spaced in the order of
/// the nodes at first and then move to the middle of their aggregates, twice. A component of the graph
/// without a seed is an aggregate. The same in every run. Not collective. Cost O(entries).
Aggregates find_aggregates(const EliminationGraph& graph, double size);

/// Has GAMG with smoothed aggregation coarsen its finest level by find_aggregates() on the nodes of each
/// rank, in place of an independent set of the squared graph [PETSc's -pc_gamg_aggressive_coarsening 1]. They
/// are as large as that makes them on one rank; its aggregates across ranks, which these do without, are
/// worse the more ranks there are (docs/performance.md). Other preconditioners stay as they are. Before the
/// set-up; not collective.
PetscErrorCode use_compact_aggregates(PC preconditioner);

} // namespace recoil::linalg
