#include "mesh/input/merge_repeats.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace recoil::mesh {

namespace {

/// Drops the items whose sorted vertices an earlier one has, and their tags if there is one per item.
template <std::size_t n>
std::size_t keep_first(std::vector<std::array<std::int32_t, n>>& items, std::vector<std::int32_t>* tags) {
  std::set<std::array<std::int32_t, n>> seen;
  const bool tagged = tags && tags->size() == items.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto key = items[i];
    std::sort(key.begin(), key.end());
    if (!seen.insert(key).second) continue;
    items[kept] = items[i];
    if (tagged) (*tags)[kept] = (*tags)[i];
    ++kept;
  }
  const std::size_t dropped = items.size() - kept;
  items.resize(kept);
  if (tagged) tags->resize(kept);
  return dropped;
}

} // namespace

std::size_t merge_equal_vertices(RawMesh& raw) {
  const auto& p = raw.vertices;
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return std::lexicographical_compare(p[a].data(), p[a].data() + 3, p[b].data(), p[b].data() + 3);
  };
  for (const auto& vertex : p)
    if (!vertex.allFinite()) return 0; // the caller refuses these; they have no order
  std::vector<std::int32_t> order(p.size()), first(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), before);
  std::size_t merged = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool repeats = i > 0 && p[order[i - 1]] == p[order[i]];
    first[order[i]] = repeats ? first[order[i - 1]] : order[i];
    merged += repeats;
  }
  if (merged == 0) return 0;
  const auto renumber = [&](auto& items) {
    for (auto& item : items)
      for (auto& v : item) v = first[v];
  };
  renumber(raw.tetrahedra);
  renumber(raw.triangles);
  renumber(raw.edges);
  for (auto& v : raw.points) v = first[v];
  return merged;
}

std::size_t drop_repeated_primitives(RawMesh& raw) {
  std::size_t dropped = keep_first(raw.triangles, &raw.triangle_tags) + keep_first(raw.edges, nullptr);
  std::set<std::int32_t> seen;
  dropped += std::erase_if(raw.points, [&](std::int32_t v) { return !seen.insert(v).second; });
  return dropped;
}

} // namespace recoil::mesh
