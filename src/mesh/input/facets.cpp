#include <algorithm>
#include <span>

#include "mesh/input/describe.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/body_mesh.hpp"

namespace recoil::mesh {

namespace {

/// A facet in the bucket of its smallest vertex.
struct FacetEntry {
  std::int32_t middle, largest; ///< its other vertices, ascending; largest = -1 in 2D
  std::int32_t reference;       ///< 4 * cell + local

  bool same_vertices(const FacetEntry& other) const {
    return middle == other.middle && largest == other.largest;
  }
  bool operator<(const FacetEntry& other) const {
    if (middle != other.middle) return middle < other.middle;
    if (largest != other.largest) return largest < other.largest;
    return reference < other.reference;
  }
};

/// Ascending vertices of a facet; the third is -1 in 2D.
std::array<std::int32_t, 3> sorted_vertices(const std::array<std::int32_t, 4>& cell, int local, int dim) {
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

[[noreturn]] void fail_shared(const BodyMesh& mesh, std::span<const FacetEntry> entries,
                              const std::string& where) {
  std::string cells;
  for (const auto& entry : entries)
    cells += (cells.empty() ? "" : ", ") + std::to_string(mesh.cell_source[entry.reference / 4]);
  const auto facet = facet_vertices(mesh, {entries[0].reference / 4, entries[0].reference % 4, -1});
  std::string corners;
  for (int i = 0; i < mesh.dim; ++i) corners += (i ? ", " : "") + describe(mesh.vertices[facet[i]], mesh.dim);
  const bool twins = entries.size() == 2;
  throw InputError(where, std::string(twins ? "two cells have the same vertices"
                                            : "a facet is shared by more than two cells") +
                              " (cells " + cells + ", counted from 0) at " + corners + "; remove the " +
                              (twins ? "duplicate" : "overlapping cells"));
}

} // namespace

std::array<std::int32_t, 3> facet_vertices(const BodyMesh& mesh, const BoundaryFacet& facet) {
  const auto& v = mesh.cells[facet.cell];
  if (mesh.dim == 2) {
    constexpr std::size_t order[3][2] = {{1, 2}, {2, 0}, {0, 1}};
    const auto& o = order[facet.local];
    return {v[o[0]], v[o[1]], -1};
  }
  constexpr std::size_t order[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  const auto& o = order[facet.local];
  return {v[o[0]], v[o[1]], v[o[2]]};
}

Boundary find_boundary(const BodyMesh& mesh, const std::string& where) {
  const int dim = mesh.dim;
  if (mesh.cells.size() > (std::size_t{1} << 29))
    throw InputError(where, "has more than 2^29 cells; split it into several geometries");

  std::vector<std::size_t> fill(mesh.vertices.size() + 1, 0);
  for (const auto& cell : mesh.cells)
    for (int i = 0; i <= dim; ++i) ++fill[sorted_vertices(cell, i, dim)[0] + 1];
  for (std::size_t v = 1; v < fill.size(); ++v) fill[v] += fill[v - 1];
  std::vector<FacetEntry> entries(fill.back());
  for (std::int32_t c = 0; c < std::ssize(mesh.cells); ++c)
    for (int i = 0; i <= dim; ++i) {
      const auto v = sorted_vertices(mesh.cells[c], i, dim);
      entries[fill[v[0]]++] = {v[1], v[2], 4 * c + i};
    }

  // fill[v] is now the end of bucket v
  Boundary boundary;
  std::size_t begin = 0;
  for (std::size_t v = 0; v + 1 < fill.size(); begin = fill[v++]) {
    const auto first = entries.begin() + begin;
    const auto last = entries.begin() + fill[v];
    std::sort(first, last);
    for (auto it = first; it != last; ++boundary.num_all_facets) {
      auto end = it + 1;
      while (end != last && end->same_vertices(*it)) ++end;
      if (end - it == 1)
        boundary.facets.push_back(
            {it->reference / 4, it->reference % 4, static_cast<std::int32_t>(boundary.num_all_facets)});
      const auto opposite = [&](const FacetEntry& e) { return mesh.cells[e.reference / 4][e.reference % 4]; };
      if (end - it > 2 || (end - it == 2 && opposite(it[0]) == opposite(it[1])))
        fail_shared(mesh, {it, end}, where);
      it = end;
    }
  }
  std::sort(boundary.facets.begin(), boundary.facets.end(),
            [](const BoundaryFacet& a, const BoundaryFacet& b) {
              return std::pair(a.cell, a.local) < std::pair(b.cell, b.local);
            });
  return boundary;
}

} // namespace recoil::mesh
