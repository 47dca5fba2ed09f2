#include "linalg/aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string_view>
#include <utility>

#include <petsc/private/pcgamgimpl.h>

namespace recoil::linalg {

namespace {

/// Further ones change neither iterations nor times (docs/performance.md).
constexpr int num_sweeps = 2;

/// Size of aggregates over that of a node's neighbourhood, itself included: 38 nodes for tetrahedra of first
/// order.
constexpr double size_of_neighbourhoods = 2.5;

/// One in the middle of every group of `size` nodes that hang together, whatever the numbering.
std::vector<idx_t> spread_seeds(const EliminationGraph& graph, double size) {
  const idx_t num_nodes = graph.num_nodes();
  if (num_nodes == 0) return {};
  const std::vector<idx_t> order = order_by_groups(graph, static_cast<idx_t>(std::ceil(size)));
  const auto count = std::max<idx_t>(1, static_cast<idx_t>(std::lround(num_nodes / size)));
  std::vector<idx_t> seeds;
  for (idx_t k = 0; k < count; ++k) {
    const double place = (k + 0.5) * num_nodes / count;
    seeds.push_back(order[static_cast<std::size_t>(place)]);
  }
  return seeds;
}

/// The nearest seed of every node. Appends a seed for every component without one.
std::vector<idx_t> grow(const EliminationGraph& graph, std::vector<idx_t>& seeds) {
  std::vector<idx_t> nearest(graph.num_nodes(), -1), front = seeds;
  for (std::size_t k = 0; k < seeds.size(); ++k) nearest[seeds[k]] = static_cast<idx_t>(k);
  std::size_t at = 0;
  const auto spread = [&] {
    for (; at < front.size(); ++at)
      for (idx_t k = graph.offsets[front[at]]; k < graph.offsets[front[at] + 1]; ++k)
        if (const idx_t other = graph.neighbours[k]; nearest[other] < 0) {
          nearest[other] = nearest[front[at]];
          front.push_back(other);
        }
  };
  spread();
  for (idx_t node = 0; node < graph.num_nodes(); ++node) {
    if (nearest[node] >= 0) continue;
    nearest[node] = static_cast<idx_t>(seeds.size());
    seeds.push_back(node);
    front.push_back(node);
    spread();
  }
  return nearest;
}

/// How many steps every node is from the nearest one that couples with another aggregate; 0 where there is
/// none.
std::vector<idx_t> find_depths(const EliminationGraph& graph, const std::vector<idx_t>& aggregates) {
  std::vector<idx_t> depths(graph.num_nodes(), -1), front;
  const auto is_outside = [&](idx_t node, idx_t other) { return aggregates[other] != aggregates[node]; };
  for (idx_t node = 0; node < graph.num_nodes(); ++node) {
    const auto begin = graph.neighbours.begin();
    if (std::any_of(begin + graph.offsets[node], begin + graph.offsets[node + 1],
                    [&](idx_t other) { return is_outside(node, other); })) {
      depths[node] = 0;
      front.push_back(node);
    }
  }
  for (std::size_t at = 0; at < front.size(); ++at)
    for (idx_t k = graph.offsets[front[at]]; k < graph.offsets[front[at] + 1]; ++k)
      if (const idx_t other = graph.neighbours[k]; depths[other] < 0) {
        depths[other] = depths[front[at]] + 1;
        front.push_back(other);
      }
  for (idx_t& depth : depths) depth = std::max<idx_t>(depth, 0);
  return depths;
}

/// Moves every seed to the deepest node of its aggregate; of several to the one that is among the deepest.
void move_to_middles(const EliminationGraph& graph, const std::vector<idx_t>& aggregates,
                     std::vector<idx_t>& seeds) {
  const std::vector<idx_t> depths = find_depths(graph, aggregates);
  std::vector<std::pair<idx_t, idx_t>> best(seeds.size(), {-1, -1});
  for (idx_t node = 0; node < graph.num_nodes(); ++node) {
    idx_t around = 0;
    for (idx_t k = graph.offsets[node]; k < graph.offsets[node + 1]; ++k)
      if (const idx_t other = graph.neighbours[k]; aggregates[other] == aggregates[node])
        around += 1 + 2 * depths[other];
    const std::pair score{depths[node], around};
    if (score <= best[aggregates[node]]) continue;
    best[aggregates[node]] = score;
    seeds[aggregates[node]] = node;
  }
}

/// The couplings of this rank's nodes in a graph of GAMG, which has a row for every node.
struct OwnGraph {
  EliminationGraph graph;
  std::vector<PetscInt> nodes; ///< that couple with any other, on any rank; others stay out of aggregates
};

PetscErrorCode take_own(Mat matrix, OwnGraph& own) {
  PetscInt first = 0, end = 0;
  PetscCall(MatGetOwnershipRange(matrix, &first, &end));
  std::vector<idx_t> numbers(end - first, -1);
  const auto visit = [&](PetscInt row, auto act) -> PetscErrorCode {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    PetscCall(MatGetRow(matrix, row, &count, &columns, nullptr));
    for (PetscInt k = 0; k < count; ++k)
      if (columns[k] != row) act(columns[k]);
    return MatRestoreRow(matrix, row, &count, &columns, nullptr);
  };
  for (PetscInt row = first; row < end; ++row) {
    bool couples = false;
    PetscCall(visit(row, [&](PetscInt) { couples = true; }));
    if (!couples) continue;
    numbers[row - first] = static_cast<idx_t>(own.nodes.size());
    own.nodes.push_back(row);
  }
  for (const PetscInt row : own.nodes) {
    PetscCall(visit(row, [&](PetscInt column) {
      if (column >= first && column < end) own.graph.neighbours.push_back(numbers[column - first]);
    }));
    own.graph.end_row();
  }
  return 0;
}

using Coarsen = decltype(_PCGAMGOps::coarsen);

/// PETSc's own, which has no public name; the same in all preconditioners with smoothed aggregation.
Coarsen coarsen_by_petsc = nullptr;

/// Lists of the aggregates' nodes by global numbers, each at the place of one of its nodes.
PetscErrorCode list_aggregates(Mat graph, PetscCoarsenData** lists) {
  OwnGraph own;
  PetscCall(take_own(graph, own));
  const double neighbourhood = 1 + static_cast<double>(own.graph.neighbours.size()) /
                                       static_cast<double>(std::max<std::size_t>(1, own.nodes.size()));
  const Aggregates aggregates = find_aggregates(own.graph, size_of_neighbourhoods * neighbourhood);
  PetscInt first = 0, end = 0;
  PetscCall(MatGetOwnershipRange(graph, &first, &end));
  PetscCall(PetscCDCreate(end - first, lists));
  std::vector<PetscInt> places(aggregates.count, -1);
  for (std::size_t k = 0; k < own.nodes.size(); ++k) {
    PetscInt& place = places[aggregates.of_node[k]];
    if (place < 0) place = own.nodes[k] - first;
    PetscCall(PetscCDAppendID(*lists, place, own.nodes[k]));
  }
  return 0;
}

/// Exceptions must not pass through PETSc's C code.
PetscErrorCode coarsen(PC pc, Mat* graph, PetscCoarsenData** lists) try {
  const auto* const multigrid = static_cast<const PC_MG*>(pc->data);
  if (static_cast<const PC_GAMG*>(multigrid->innerctx)->current_level > 0)
    return coarsen_by_petsc(pc, graph, lists);
  return list_aggregates(*graph, lists);
} catch (const std::bad_alloc&) {
  return PETSC_ERR_MEM;
}

} // namespace

Aggregates find_aggregates(const EliminationGraph& graph, double size) {
  std::vector<idx_t> seeds = spread_seeds(graph, size);
  std::vector<idx_t> of_node = grow(graph, seeds);
  for (int sweep = 0; sweep < num_sweeps; ++sweep) {
    move_to_middles(graph, of_node, seeds);
    of_node = grow(graph, seeds);
  }
  return {std::move(of_node), static_cast<idx_t>(seeds.size())};
}

PetscErrorCode use_compact_aggregates(PC preconditioner) {
  PetscBool is_gamg = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCGAMG, &is_gamg));
  if (is_gamg == PETSC_FALSE) return 0;
  PCGAMGType type = nullptr;
  PetscCall(PCGAMGGetType(preconditioner, &type));
  if (type == nullptr || std::string_view(type) != PCGAMGAGG) return 0;
  const auto* const multigrid = static_cast<const PC_MG*>(preconditioner->data);
  Coarsen& present = static_cast<const PC_GAMG*>(multigrid->innerctx)->ops->coarsen;
  if (present != &coarsen) coarsen_by_petsc = present;
  present = &coarsen;
  return 0;
}

} // namespace recoil::linalg
