#include "linalg/aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <petsc/private/pcgamgimpl.h>

#include "linalg/gamg_products.hpp"
#include "linalg/solver_options.hpp"
#include "linalg/sum_matrix.hpp"

namespace recoil::linalg {

namespace {

/// More sweeps change neither iterations nor times (docs/performance.md).
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

/// Moves every seed to the deepest node of its aggregate; of equally deep ones to that with most neighbours
/// in the aggregate, where deep ones count for more, then to the first.
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
  std::vector<PetscInt> rows; ///< of the nodes that couple with any other, on any rank
};

OwnGraph take_own(Mat matrix) {
  const MatrixParts parts = read_parts(matrix);
  PetscInt num_rows = 0;
  RECOIL_PETSC(MatGetLocalSize(matrix, &num_rows, nullptr));
  const auto couples = [&](PetscInt row) {
    const PetscInt begin = parts.diagonal_rows[row], end = parts.diagonal_rows[row + 1];
    const bool elsewhere =
        parts.off_diagonal_rows != nullptr && parts.off_diagonal_rows[row] < parts.off_diagonal_rows[row + 1];
    return elsewhere || std::any_of(parts.diagonal_columns + begin, parts.diagonal_columns + end,
                                    [&](PetscInt column) { return column != row; });
  };
  OwnGraph own;
  std::vector<idx_t> numbers(num_rows, -1);
  for (PetscInt row = 0; row < num_rows; ++row) {
    if (!couples(row)) continue;
    numbers[row] = static_cast<idx_t>(own.rows.size());
    own.rows.push_back(row);
  }
  for (const PetscInt row : own.rows) {
    for (PetscInt k = parts.diagonal_rows[row]; k < parts.diagonal_rows[row + 1]; ++k)
      // Thresholds that rounding decides may leave a coupling on one side only.
      if (const PetscInt column = parts.diagonal_columns[k]; column != row && numbers[column] >= 0)
        own.graph.neighbours.push_back(numbers[column]);
    own.graph.end_row();
  }
  return own;
}

using CreateGraph = decltype(_PCGAMGOps::creategraph);
using Coarsen = decltype(_PCGAMGOps::coarsen);

/// PETSc's own, which have no public names; the same in all preconditioners with smoothed aggregation.
CreateGraph create_graph_by_petsc = nullptr;
Coarsen coarsen_by_petsc = nullptr;

/// Lists of the aggregates' nodes by global numbers, each at the place of one of its nodes. Nodes that couple
/// with nothing stay out, as in PETSc's lists. A node whose neighbours are all on other ranks is an
/// aggregate, though it has fewer components than there are modes: a coarse level without it takes more
/// iterations.
PetscErrorCode list_aggregates(Mat graph, PetscCoarsenData** lists) {
  const OwnGraph own = take_own(graph);
  const Aggregates aggregates = find_aggregates(own.graph);
  PetscInt first = 0, end = 0;
  PetscCall(MatGetOwnershipRange(graph, &first, &end));
  PetscCall(PetscCDCreate(end - first, lists));
  PetscCall(PetscCDSetChuckSize(*lists, std::max<PetscInt>(1, end - first)));
  std::vector<PetscInt> places(aggregates.count, -1);
  for (std::size_t k = 0; k < own.rows.size(); ++k) {
    PetscInt& place = places[aggregates.of_node[k]];
    if (place < 0) place = own.rows[k];
    PetscCall(PetscCDAppendID(*lists, place, first + own.rows[k]));
  }
  return 0;
}

/// PETSc's own also makes an object that its coarsen() alone destroys.
PetscErrorCode create_graph(PC pc, Mat matrix, Mat* graph) {
  const PC_GAMG& gamg = *find_gamg(pc);
  if (gamg.current_level > 0) return create_graph_by_petsc(pc, matrix, graph);
  const PetscReal threshold = gamg.threshold[0];
  return MatCreateGraph(matrix, PETSC_FALSE, threshold >= 0 ? PETSC_TRUE : PETSC_FALSE, threshold, graph);
}

PetscErrorCode coarsen(PC pc, Mat* graph, PetscCoarsenData** lists) {
  const PC_GAMG& gamg = *find_gamg(pc);
  if (gamg.current_level > 0) return coarsen_by_petsc(pc, graph, lists);
  return without_exceptions([&] { return list_aggregates(*graph, lists); });
}

} // namespace

Aggregates find_aggregates(const EliminationGraph& graph) {
  const double num_nodes = std::max<idx_t>(1, graph.num_nodes());
  const double neighbourhood = 1 + static_cast<double>(graph.neighbours.size()) / num_nodes;
  return find_aggregates(graph, size_of_neighbourhoods * neighbourhood);
}

Aggregates find_aggregates(const EliminationGraph& graph, double size) {
  std::vector<idx_t> seeds = spread_seeds(graph, size);
  std::vector<idx_t> of_node = grow(graph, seeds);
  for (int sweep = 0; sweep < num_sweeps; ++sweep) {
    move_to_middles(graph, of_node, seeds);
    of_node = grow(graph, seeds);
  }
  return {std::move(of_node), static_cast<idx_t>(seeds.size())};
}

void use_compact_aggregates(PC preconditioner) {
  const PC_GAMG* const gamg = find_gamg(preconditioner);
  if (gamg == nullptr || gamg->ops->coarsen == &coarsen) return;
  PCGAMGType type = nullptr;
  RECOIL_PETSC(PCGAMGGetType(preconditioner, &type));
  if (type == nullptr || std::string_view(type) != PCGAMGAGG) return;
  create_graph_by_petsc = std::exchange(gamg->ops->creategraph, &create_graph);
  coarsen_by_petsc = std::exchange(gamg->ops->coarsen, &coarsen);
}

} // namespace recoil::linalg
