#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "pieces/cut_surface.hpp"
#include "recoil/base/union_find.hpp"

namespace recoil::pieces {

/// Where an edge of one surface passes through a facet of the other one.
struct Crossing {
  double place;               ///< from the first end of the edge to the second, 0 to 1
  std::int32_t before, after; ///< labels on both sides, in the direction of the edge
  std::int32_t vertex;        ///< number of the point
};

/// Points that are nearer to each other along an edge may have their order wrong.
inline constexpr double order_tolerance = 1e-9;

/// Sorts the crossings of an edge. Where two places are so near that rounding may have exchanged them, labels
/// decide. @throws Degenerate if labels do not form a chain.
inline void sort_chain(std::vector<Crossing>& chain) {
  std::sort(chain.begin(), chain.end(),
            [](const Crossing& a, const Crossing& b) { return a.place < b.place; });
  for (std::size_t k = 0; k + 1 < chain.size(); ++k) {
    std::size_t next = k + 1;
    while (chain[k].after != chain[next].before) {
      if (++next == chain.size() || chain[next].place > chain[k + 1].place + order_tolerance)
        throw Degenerate{};
    }
    std::swap(chain[k + 1], chain[next]);
  }
}

/// The labels of the vertices of a surface, from those on both sides of crossings and along edges without
/// any. @param chains of each edge. @param seed label of a vertex of a part that nothing crosses, by its
/// number. @throws Degenerate where labels contradict each other.
template <class Seed>
std::vector<std::int32_t> vertex_labels(std::size_t num_vertices,
                                        const std::vector<std::array<std::int32_t, 2>>& edges,
                                        const std::vector<std::vector<Crossing>>& chains, const Seed& seed) {
  constexpr std::int32_t unknown = -2;
  UnionFind<std::int32_t> sets(static_cast<std::int32_t>(num_vertices));
  for (std::size_t e = 0; e < edges.size(); ++e)
    if (chains[e].empty()) sets.unite(edges[e][0], edges[e][1]);
  std::vector<std::int32_t> labels(num_vertices, unknown);
  const auto set = [&](std::int32_t vertex, std::int32_t label) {
    auto& known = labels[sets.root(vertex)];
    if (known != unknown && known != label) throw Degenerate{};
    known = label;
  };
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (chains[e].empty()) continue;
    set(edges[e][0], chains[e].front().before);
    set(edges[e][1], chains[e].back().after);
  }
  std::vector<char> used(num_vertices, 0);
  for (const auto& edge : edges)
    for (const auto v : edge) used[v] = 1;
  for (std::size_t v = 0; v < num_vertices; ++v) {
    if (!used[v]) continue;
    const auto root = sets.root(static_cast<std::int32_t>(v));
    if (labels[root] == unknown) labels[root] = seed(static_cast<std::int32_t>(v));
    labels[v] = labels[root];
  }
  return labels;
}

} // namespace recoil::pieces
