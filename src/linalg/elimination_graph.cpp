#include "linalg/elimination_graph.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

namespace {

using MetisOptions = std::array<idx_t, METIS_NOPTIONS>;

MetisOptions metis_options() {
  MetisOptions options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  return options;
}

void check_metis(int status, const std::string& call) {
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK)
    throw LibraryError("METIS: " + call + " failed with status " + std::to_string(status));
}

/// Per node the part 0, the part 1 or the separator 2.
std::vector<idx_t> separate(const EliminationGraph& graph, int imbalance) {
  idx_t count = graph.num_nodes(), size = 0;
  std::vector<idx_t> offsets = graph.offsets, neighbours = graph.neighbours, parts(count);
  MetisOptions options = metis_options();
  options[METIS_OPTION_UFACTOR] = imbalance;
  const DeferredSignals deferred;
  check_metis(METIS_ComputeVertexSeparator(&count, offsets.data(), neighbours.data(), nullptr, options.data(),
                                           &size, parts.data()),
              "METIS_ComputeVertexSeparator");
  return parts;
}

/// The first half of the nodes, and what couples with it.
std::vector<idx_t> separate_by_numbers(const EliminationGraph& graph) {
  const idx_t half = (graph.num_nodes() + 1) / 2;
  std::vector<idx_t> parts(graph.num_nodes(), 1);
  std::fill_n(parts.begin(), half, 0);
  for (idx_t k = 0; k < graph.offsets[half]; ++k)
    if (idx_t& part = parts[graph.neighbours[k]]; part == 1) part = 2;
  return parts;
}

} // namespace

EliminationGraph make_graph(idx_t num_nodes, std::span<const Coupling> couplings) {
  EliminationGraph graph;
  graph.offsets.assign(num_nodes + 1, 0);
  for (const auto& [row, column] : couplings) {
    if (row == column) continue;
    ++graph.offsets[row];
    ++graph.offsets[column];
  }
  idx_t sum = 0;
  for (idx_t& offset : graph.offsets) offset = sum += offset;
  graph.neighbours.resize(sum);
  // Rows are filled from their ends, which leaves the offsets at their beginnings.
  for (const auto& [row, column] : couplings) {
    if (row == column) continue;
    graph.neighbours[--graph.offsets[row]] = column;
    graph.neighbours[--graph.offsets[column]] = row;
  }
  return graph;
}

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
  idx_t next = 0;
  for (const GlobalIndex node : nodes) number[node] = next++;
  EliminationGraph part;
  for (const GlobalIndex node : nodes) {
    const std::size_t row = node;
    for (idx_t k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
      if (const idx_t other = number[graph.neighbours[k]]; other >= 0) part.neighbours.push_back(other);
    part.end_row();
  }
  return part;
}

std::vector<idx_t> nested_dissection(const EliminationGraph& graph) {
  idx_t count = graph.num_nodes();
  if (count == 0) return {};
  std::vector<idx_t> offsets = graph.offsets, neighbours = graph.neighbours;
  std::vector<idx_t> order(count), places(order.size());
  MetisOptions options = metis_options();
  const DeferredSignals deferred;
  check_metis(METIS_NodeND(&count, offsets.data(), neighbours.data(), nullptr, options.data(), order.data(),
                           places.data()),
              "METIS_NodeND");
  return places;
}

Bisection bisect(const EliminationGraph& graph, int imbalance) {
  const auto count = graph.num_nodes();
  // METIS does not take graphs without an edge.
  std::vector<idx_t> parts;
  if (!graph.neighbours.empty()) parts = separate(graph, imbalance);
  if (parts.empty() || std::ranges::count(parts, 0) == count || std::ranges::count(parts, 1) == count)
    parts = separate_by_numbers(graph);
  Bisection result;
  const std::array<std::vector<GlobalIndex>*, 3> lists{&result.left, &result.right, &result.separator};
  for (idx_t node = 0; node < count; ++node) lists[parts[node]]->push_back(node);
  return result;
}

} // namespace recoil::linalg
