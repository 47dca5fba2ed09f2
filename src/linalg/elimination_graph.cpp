#include "linalg/elimination_graph.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

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

/// The place of every node; weights may be empty.
std::vector<idx_t> order_nodes(const EliminationGraph& graph, std::vector<idx_t> weights,
                               MetisOptions options) {
  idx_t count = graph.num_nodes();
  if (count == 0) return {};
  std::vector<idx_t> offsets = graph.offsets, neighbours = graph.neighbours;
  std::vector<idx_t> order(count), places(order.size());
  const DeferredSignals deferred;
  check_metis(METIS_NodeND(&count, offsets.data(), neighbours.data(),
                           weights.empty() ? nullptr : weights.data(), options.data(), order.data(),
                           places.data()),
              "METIS_NodeND");
  return places;
}

/// Every node in one group; the nodes of group g are `members` from begin[g] to begin[g + 1].
struct Groups {
  std::vector<idx_t> of_node, members;
  std::vector<std::size_t> begin{0};
};

Groups find_groups(const EliminationGraph& graph, idx_t most) {
  Groups groups;
  groups.of_node.assign(graph.num_nodes(), -1);
  idx_t group = 0;
  const auto join = [&](idx_t node) {
    groups.of_node[node] = group;
    groups.members.push_back(node);
  };
  for (idx_t seed = 0; seed < graph.num_nodes(); ++seed) {
    if (groups.of_node[seed] >= 0) continue;
    const std::size_t begin = groups.members.size(), full = begin + most;
    join(seed);
    for (std::size_t at = begin; at < groups.members.size(); ++at) {
      const std::size_t node = groups.members[at];
      for (idx_t k = graph.offsets[node]; k < graph.offsets[node + 1] && groups.members.size() < full; ++k)
        if (const idx_t other = graph.neighbours[k]; groups.of_node[other] < 0) join(other);
    }
    groups.begin.push_back(groups.members.size());
    ++group;
  }
  return groups;
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
  return order_nodes(graph, {}, metis_options());
}

std::vector<idx_t> nested_dissection(const QuotientGraph& quotient) {
  MetisOptions options = metis_options();
  options[METIS_OPTION_NITER] = 1;
  return order_nodes(quotient.graph, quotient.widths, options);
}

std::vector<idx_t> order_by_groups(const EliminationGraph& graph, idx_t most) {
  return find_groups(graph, most).members;
}

QuotientGraph join_nodes(const EliminationGraph& graph, idx_t most) {
  const Groups groups = find_groups(graph, most);
  const std::size_t count = groups.begin.size() - 1;
  QuotientGraph quotient;
  std::vector<idx_t>& neighbours = quotient.graph.neighbours;
  // By group: which group and which node met it last, and how many nodes of that group did.
  std::vector<idx_t> group_before(count, -1), node_before(count, -1), meetings(count);
  for (std::size_t group = 0; group < count; ++group) {
    const auto number = static_cast<idx_t>(group);
    const std::size_t begin = groups.begin[group], end = groups.begin[group + 1], first = neighbours.size();
    for (std::size_t k = begin; k < end; ++k) {
      const idx_t node = groups.members[k];
      for (idx_t j = graph.offsets[node]; j < graph.offsets[node + 1]; ++j) {
        const idx_t other = groups.of_node[graph.neighbours[j]];
        if (other == number) continue;
        if (std::exchange(group_before[other], number) != number) {
          neighbours.push_back(other);
          meetings[other] = 0;
        }
        if (std::exchange(node_before[other], node) != node) ++meetings[other];
      }
    }
    quotient.graph.end_row();
    idx_t width = first == neighbours.size() ? static_cast<idx_t>(end - begin) : 0;
    for (std::size_t k = first; k < neighbours.size(); ++k) width = std::max(width, meetings[neighbours[k]]);
    quotient.widths.push_back(width);
  }
  return quotient;
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
