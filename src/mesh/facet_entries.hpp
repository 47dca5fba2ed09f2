#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace recoil::mesh {

/// A facet in the bucket of its smallest vertex.
struct FacetEntry {
  std::int32_t middle, largest; ///< other vertices, ascending; largest = -1 in 2D
  std::int32_t reference;       ///< 4 * cell + local

  bool same_vertices(const FacetEntry& other) const {
    return middle == other.middle && largest == other.largest;
  }
  auto operator<=>(const FacetEntry&) const = default;
};

/// Ascending vertices of the facet opposite to `local`; the third is -1 in 2D.
inline std::array<std::int32_t, 3> sorted_vertices(const std::array<std::int32_t, 4>& cell, int local,
                                                   int dim) {
  std::array<std::int32_t, 3> v{-1, -1, -1};
  std::size_t n = 0;
  for (int i = 0; i <= dim; ++i)
    if (i != local) v[n++] = cell[i];
  if (v[0] > v[1]) std::swap(v[0], v[1]);
  if (dim == 3) {
    if (v[1] > v[2]) std::swap(v[1], v[2]);
    if (v[0] > v[1]) std::swap(v[0], v[1]);
  }
  return v;
}

/// Calls act(entries) for every facet, in lexicographic order of their ascending vertices, with an entry for
/// each of `cells` that has it, in their order. At most 2^29 cells.
/// @note Cost O(cells), memory 12 bytes per facet and cell.
template <class Act>
void for_each_facet(std::span<const std::array<std::int32_t, 4>> cells, std::size_t num_vertices, int dim,
                    const Act& act) {
  std::vector<std::size_t> fill(num_vertices + 1, 0);
  for (const auto& cell : cells)
    for (int i = 0; i <= dim; ++i) ++fill[sorted_vertices(cell, i, dim)[0] + 1];
  for (std::size_t v = 1; v < fill.size(); ++v) fill[v] += fill[v - 1];
  std::vector<FacetEntry> entries(fill.back());
  for (std::int32_t c = 0; c < std::ssize(cells); ++c)
    for (int i = 0; i <= dim; ++i) {
      const auto v = sorted_vertices(cells[c], i, dim);
      entries[fill[v[0]]++] = {v[1], v[2], 4 * c + i};
    }
  // fill[v] is now the end of bucket v
  std::size_t begin = 0;
  for (std::size_t v = 0; v + 1 < fill.size(); begin = fill[v++]) {
    const auto first = entries.begin() + begin;
    const auto last = entries.begin() + fill[v];
    std::sort(first, last);
    for (auto it = first; it != last;) {
      auto end = it + 1;
      while (end != last && end->same_vertices(*it)) ++end;
      act(std::span<const FacetEntry>(it, end));
      it = end;
    }
  }
}

} // namespace recoil::mesh
