#include "linalg/method_choice.hpp"

#include <algorithm>
#include <array>

#include "linalg/sum_matrix.hpp"
#include "recoil/base/log.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

namespace {

/// Unknowns up to which a new factorisation and one solve take less time than multigrid to 1e-8 (three solves
/// sharing one interpolation), measured with bench_crossover on 1 and 2 ranks with OpenBLAS: more than 256
/// 000 in 2D (ratio 0.5 there on one rank, 0.75 on two), 3 000 and 2 000 in 3D. With the reference BLAS it
/// would be 75 000 and 1 200 on one rank. The factorisation is done by one rank, so the limit in 2D falls
/// with their number, as fill growth commands; the floor is where multigrid is all latency.
struct Crossover {
  GlobalIndex one_rank;
  int exponent_of_ranks;
  GlobalIndex floor;
};
constexpr Crossover crossover_2d{400000, 1, 20000}, crossover_3d{3000, 0, 3000};

/// Operations of a factorisation that take as long as multigrid does per entry of K, on one rank
/// (docs/performance.md).
constexpr double work_per_entry = 1000;
/// Iterations of multigrid that take as long as so many operations, and how many times longer than a
/// factorisation a solve has to take to be judged by them.
constexpr double iterations_of_work = 26, patience = 2;
/// Operations of a factorisation per entry of K beyond which its factor takes more memory than anything else.
constexpr double most_work_per_entry = 10000;
/// Share of stiff nodes from which on factoring their block may cost as much as factoring all.
constexpr double notable_share = 0.25;
/// Nodes from which on no rank is asked to look at the whole graph.
constexpr GlobalIndex many_nodes = 200000;
/// Nodes that are joined for a bound of the work. The groups are taken to need at most 1 + 5 m times the
/// work, with m neighbours of a node on the mean: at most 3 m was measured (docs/performance.md).
constexpr idx_t nodes_of_group = 27;
constexpr double excess_per_neighbour = 5;

/// The graph with its nodes renumbered, rows below the diagonal only.
EliminationGraph lower_rows(const EliminationGraph& graph, std::span<const idx_t> places) {
  const idx_t count = graph.num_nodes();
  std::vector<idx_t> node(count);
  for (idx_t k = 0; k < count; ++k) node[places[k]] = k;
  EliminationGraph rows;
  for (idx_t row = 0; row < count; ++row) {
    for (idx_t k = graph.offsets[node[row]]; k < graph.offsets[node[row] + 1]; ++k)
      if (const idx_t column = places[graph.neighbours[k]]; column < row) rows.neighbours.push_back(column);
    rows.end_row();
  }
  return rows;
}

/// Nodes of every column of the factor below the diagonal, where row k stands for widths[k] nodes. Row i of
/// the factor holds what is met on the ways up the elimination tree from the entries of row i of the matrix
/// to i.
std::vector<std::int64_t> column_heights(const EliminationGraph& rows, std::span<const idx_t> widths) {
  const std::size_t count = rows.num_nodes();
  constexpr std::size_t none = -1;
  std::vector<std::size_t> parent(count, none), seen(count, none);
  std::vector<std::int64_t> heights(count, 0);
  for (std::size_t row = 0; row < count; ++row) {
    seen[row] = row;
    for (idx_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
      std::size_t at = rows.neighbours[k];
      for (; seen[at] != row; at = parent[at]) {
        if (parent[at] == none) parent[at] = row;
        heights[at] += widths[row];
        seen[at] = row;
      }
    }
  }
  return heights;
}

double work_of_groups(const EliminationGraph& graph, std::span<const idx_t> widths,
                      std::span<const idx_t> places, int dim) {
  std::vector<idx_t> of_row(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) of_row[places[k]] = widths[k];
  const std::vector<std::int64_t> heights = column_heights(lower_rows(graph, places), of_row);
  double sum = 0;
  for (std::size_t row = 0; row < heights.size(); ++row)
    for (idx_t k = 1; k <= of_row[row]; ++k) {
      const double count = static_cast<double>(heights[row] + k);
      sum += count * count;
    }
  return sum * dim * dim * dim;
}

/// The works of factoring `whole` and `part`, the first by its bound where this is above the sum of the
/// second and `more`.
std::array<double, 2> compare_works(const EliminationGraph& whole, const EliminationGraph& part, int dim,
                                    double more) {
  const double work = factorization_work(part, dim), least = least_factorization_work(whole, dim);
  return {least > work + more ? least : factorization_work(whole, dim), work};
}

} // namespace

double factorization_work(const EliminationGraph& graph, std::span<const idx_t> places, int dim) {
  return work_of_groups(graph, std::vector<idx_t>(places.size(), 1), places, dim);
}

double factorization_work(const EliminationGraph& graph, int dim) {
  return factorization_work(graph, nested_dissection(graph), dim);
}

double factorization_work(const QuotientGraph& quotient, int dim) {
  return work_of_groups(quotient.graph, quotient.widths, nested_dissection(quotient), dim);
}

double least_factorization_work(const EliminationGraph& graph, int dim) {
  if (graph.neighbours.empty()) return 0;
  const double mean_neighbours = 1.0 * graph.neighbours.size() / graph.num_nodes();
  return factorization_work(join_nodes(graph, nodes_of_group), dim) /
         (1 + excess_per_neighbour * mean_neighbours);
}

bool is_below_crossover(int dimension, GlobalIndex num_unknowns, int num_ranks) {
  const Crossover& crossover = dimension == 2 ? crossover_2d : crossover_3d;
  GlobalIndex limit = crossover.one_rank;
  for (int k = 0; k < crossover.exponent_of_ranks; ++k) limit /= num_ranks;
  return num_unknowns <= std::max(limit, crossover.floor);
}

LinearMethod MethodChoice::before_matrix() const {
  const GlobalIndex num_unknowns = layout_->num_global * layout_->block_size;
  return is_below_crossover(dimension_, num_unknowns, layout_->comm->size()) ? LinearMethod::direct
                                                                             : LinearMethod::amg;
}

LinearMethod MethodChoice::operator()(const std::shared_ptr<const NodeGraph>& graph,
                                      const StencilMatrix* stiff) {
  const GlobalIndex num_nodes = layout_->num_global;
  if (before_matrix() == LinearMethod::direct) return LinearMethod::direct;
  if (num_nodes > many_nodes) return LinearMethod::amg;
  if (graph != graph_) {
    graph_ = graph;
    weigh_alone(*graph);
  }
  bool pays = work_ <= multigrid_work_;
  if (stiff != nullptr && !stiff->empty() && (pays || stiff->num_nodes() > notable_share * num_nodes))
    pays = pays_with_stiff_terms(*graph, *stiff);
  return pays ? LinearMethod::direct : LinearMethod::amg;
}

bool MethodChoice::factors_faster_than(int iterations) {
  const auto is_faster = [&] {
    const double all_ranks = multigrid_work_ * layout_->comm->size();
    return work_ > 0 && work_ * work_per_entry <= most_work_per_entry * all_ranks &&
           iterations * multigrid_work_ > patience * iterations_of_work * work_;
  };
  if (is_faster() && !is_exact_) weigh_nodes(gather_graph(*layout_, *graph_));
  return is_faster();
}

void MethodChoice::weigh_alone(const NodeGraph& graph) {
  const int block = layout_->block_size;
  const EliminationGraph whole = gather_graph(*layout_, graph);
  const double entries = layout_->comm->sum(1.0 * graph.neighbours.size() * block * block);
  multigrid_work_ = work_per_entry * entries / layout_->comm->size();
  work_ = layout_->comm->sum(
      parallel::collectively(*layout_->comm, [&] { return least_factorization_work(whole, block); }));
  is_exact_ = false;
  log_debug("work of a factorisation", {{"at least", work_}, {"multigrid", multigrid_work_}});
  if (work_ <= multigrid_work_) weigh_nodes(whole);
}

void MethodChoice::weigh_nodes(const EliminationGraph& whole) {
  const int block = layout_->block_size;
  work_ = layout_->comm->sum(
      parallel::collectively(*layout_->comm, [&] { return factorization_work(whole, block); }));
  is_exact_ = true;
  log_debug("work of a factorisation", {{"all", work_}, {"multigrid", multigrid_work_}});
}

bool MethodChoice::pays_with_stiff_terms(const NodeGraph& graph, const StencilMatrix& stiff) const {
  const CoupledGraph coupled = couple(*layout_, graph, stiff.rows());
  std::vector<GlobalIndex> nodes;
  for (const LocalIndex node : stiff.nodes()) nodes.push_back(layout_->offset + node);
  nodes = parallel::gather(*layout_->comm, 0, std::move(nodes));
  const EliminationGraph whole = gather_graph(*coupled.layout, *coupled.graph);
  std::array<double, 2> sums = parallel::collectively(*layout_->comm, [&] {
    return compare_works(whole, restrict_to(whole, nodes), layout_->block_size, multigrid_work_);
  });
  layout_->comm->sum(sums);
  log_debug("work of a factorisation with stiff terms",
            {{"all", sums[0]}, {"stiff nodes", sums[1]}, {"multigrid", multigrid_work_}});
  return sums[0] <= sums[1] + multigrid_work_;
}

} // namespace recoil::linalg
