#include "linalg/factorization_work.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

namespace {

/// The graph with its nodes renumbered, rows below the diagonal only.
EliminationGraph lower_rows(const EliminationGraph& graph, std::span<const idx_t> places) {
  const std::size_t count = places.size();
  std::vector<std::size_t> node(count);
  for (std::size_t k = 0; k < count; ++k) node[places[k]] = k;
  EliminationGraph rows;
  for (std::size_t row = 0; row < count; ++row) {
    for (idx_t k = graph.offsets[node[row]]; k < graph.offsets[node[row] + 1]; ++k) {
      const idx_t column = places[graph.neighbours[k]];
      if (static_cast<std::size_t>(column) < row) rows.neighbours.push_back(column);
    }
    rows.offsets.push_back(static_cast<idx_t>(rows.neighbours.size()));
  }
  return rows;
}

/// Entries of every column of the factor, the diagonal included. Row i of the factor holds what is met on the
/// ways up the elimination tree from the entries of row i of the matrix to i.
std::vector<std::int64_t> column_counts(const EliminationGraph& rows) {
  const std::size_t count = rows.num_nodes();
  constexpr std::size_t none = -1;
  std::vector<std::size_t> parent(count, none), seen(count, none);
  std::vector<std::int64_t> counts(count, 1);
  for (std::size_t row = 0; row < count; ++row) {
    seen[row] = row;
    for (idx_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
      std::size_t at = rows.neighbours[k];
      for (; seen[at] != row; at = parent[at]) {
        if (parent[at] == none) parent[at] = row;
        ++counts[at];
        seen[at] = row;
      }
    }
  }
  return counts;
}

} // namespace

EliminationGraph gather_graph(const VectorLayout& layout, const NodeGraph& graph) {
  std::vector<idx_t> degrees, neighbours;
  for (LocalIndex node = 0; node < layout.num_owned; ++node) {
    const std::size_t before = neighbours.size();
    for (auto k = graph.offsets[node]; k < graph.offsets[node + 1]; ++k) {
      const LocalIndex other = graph.neighbours[k];
      if (other == node) continue;
      neighbours.push_back(static_cast<idx_t>(layout.global(other)));
    }
    degrees.push_back(static_cast<idx_t>(neighbours.size() - before));
  }
  EliminationGraph whole;
  whole.neighbours = parallel::gather(*layout.comm, 0, std::move(neighbours));
  for (const idx_t degree : parallel::gather(*layout.comm, 0, std::move(degrees)))
    whole.offsets.push_back(whole.offsets.back() + degree);
  return whole;
}

EliminationGraph restrict_to(const EliminationGraph& graph, std::span<const GlobalIndex> nodes) {
  std::vector<idx_t> number(graph.num_nodes(), -1);
  for (std::size_t k = 0; k < nodes.size(); ++k) number[nodes[k]] = static_cast<idx_t>(k);
  EliminationGraph part;
  for (const GlobalIndex node : nodes) {
    const std::size_t row = node;
    for (idx_t k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
      if (const idx_t other = number[graph.neighbours[k]]; other >= 0) part.neighbours.push_back(other);
    part.offsets.push_back(static_cast<idx_t>(part.neighbours.size()));
  }
  return part;
}

std::vector<idx_t> nested_dissection(const EliminationGraph& graph) {
  idx_t count = graph.num_nodes();
  if (count == 0) return {};
  std::vector<idx_t> offsets = graph.offsets, neighbours = graph.neighbours;
  std::vector<idx_t> order(count), places(order.size());
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  const DeferredSignals deferred;
  const int status = METIS_NodeND(&count, offsets.data(), neighbours.data(), nullptr, options.data(),
                                  order.data(), places.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK)
    throw LibraryError("METIS: METIS_NodeND failed with status " + std::to_string(status));
  return places;
}

double factorization_work(const EliminationGraph& graph, std::span<const idx_t> places, int dim) {
  double sum = 0;
  for (const std::int64_t count : column_counts(lower_rows(graph, places)))
    sum += static_cast<double>(count) * count;
  return sum * dim * dim * dim;
}

double factorization_work(const EliminationGraph& graph, int dim) {
  return factorization_work(graph, nested_dissection(graph), dim);
}

} // namespace recoil::linalg
