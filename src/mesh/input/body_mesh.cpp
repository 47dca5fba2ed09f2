#include "recoil/mesh/input/body_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "mesh/facet_entries.hpp"
#include "mesh/input/describe.hpp"
#include "mesh/input/entry_checks.hpp"
#include "mesh/input/refinement.hpp"
#include "recoil/base/error.hpp"

namespace recoil::mesh {

namespace {

void check_planar(const RawMesh& raw, const std::string& where) {
  double min = std::numeric_limits<double>::infinity(), max = -min;
  for (const auto& p : raw.vertices) {
    min = std::min(min, p.z());
    max = std::max(max, p.z());
  }
  if (max > min)
    throw InputError(
        where, "holds triangles only, but z runs from " + describe(min) + " to " + describe(max) +
                   "; a deformable body needs tetrahedra, or triangles in a plane of constant z; a surface "
                   "can be an obstacle (is_obstacle)");
}

/// Six times the volume or twice the area, and the product of edge lengths it is to be compared with.
struct Measure {
  double determinant, scale;
};

Measure measure(const BodyMesh& mesh, const std::array<std::int32_t, 4>& cell) {
  const auto at = [&](int i) -> const Eigen::Vector3d& { return mesh.vertices[cell[i]]; };
  const Eigen::Vector3d a = at(1) - at(0), b = at(2) - at(0);
  if (mesh.dim == 2) return {a.x() * b.y() - a.y() * b.x(), a.norm() * b.norm()};
  const Eigen::Vector3d c = at(3) - at(0);
  return {a.cross(b).dot(c), a.norm() * b.norm() * c.norm()};
}

[[noreturn]] void fail_degenerate(const BodyMesh& mesh, std::size_t cell, const std::string& where) {
  const auto& vertices = mesh.cells[cell];
  std::string corners;
  bool repeated = false, finite = true;
  for (int i = 0; i <= mesh.dim; ++i) {
    const auto v = vertices[i];
    const auto& p = mesh.vertices[v];
    corners += (i ? ", " : "") + std::to_string(mesh.id_of_vertex(v)) + " at " + describe(p, mesh.dim);
    finite = finite && p.allFinite();
    for (int j = 0; j < i; ++j) repeated = repeated || vertices[j] == v;
  }
  const std::string kind = mesh.dim == 3 ? "tetrahedron " : "triangle ";
  throw InputError(where, kind + std::to_string(mesh.cell_source[cell]) + " (counted from 0) " +
                              (repeated ? "uses a vertex twice"
                               : finite ? (mesh.dim == 3 ? "has no volume" : "has no area")
                                        : "has coordinates that are not finite") +
                              "; its vertices (counted from 0) are " + corners +
                              (repeated ? "" : "; fix the mesh, or a scale or dimension of zero"));
}

/// Whether two cells that share a facet lie on the same side of it, each by more than rounding.
bool lie_on_one_side(const BodyMesh& mesh, std::span<const FacetEntry> entries) {
  const auto facet = facet_vertices(mesh, {entries[0].reference / 4, entries[0].reference % 4, -1});
  const auto side = [&](const FacetEntry& entry) {
    return side_of(mesh, facet, mesh.cells[entry.reference / 4][entry.reference % 4], facet_rounding);
  };
  return side(entries[0]) * side(entries[1]) > 0;
}

[[noreturn]] void fail_shared(const BodyMesh& mesh, std::span<const FacetEntry> entries,
                              const std::string& where) {
  std::string cells;
  for (const auto& entry : entries)
    cells += (cells.empty() ? "" : ", ") + std::to_string(mesh.cell_source[entry.reference / 4]);
  const auto facet = facet_vertices(mesh, {entries[0].reference / 4, entries[0].reference % 4, -1});
  std::string corners;
  for (int i = 0; i < mesh.dim; ++i) corners += (i ? ", " : "") + describe(mesh.vertices[facet[i]], mesh.dim);
  const auto opposite = [&](const FacetEntry& e) { return mesh.cells[e.reference / 4][e.reference % 4]; };
  const bool twins = entries.size() == 2 && opposite(entries[0]) == opposite(entries[1]);
  throw InputError(where,
                   std::string(twins                 ? "two cells have the same vertices"
                               : entries.size() == 2 ? "two cells lie on one side of their common facet"
                                                     : "a facet is shared by more than two cells") +
                       " (cells " + cells + ", counted from 0) at " + corners + "; remove the " +
                       (twins ? "duplicate" : "overlapping cells"));
}

/// All edges of the cells, numbered in lexicographic order of (min, max).
class EdgeNumbers {
public:
  explicit EdgeNumbers(const BodyMesh& mesh) : begin_(mesh.vertices.size() + 1, 0) {
    const auto for_each_edge = [&](const auto& act) {
      for (const auto& cell : mesh.cells)
        for (int i = 0; i <= mesh.dim; ++i)
          for (int j = i + 1; j <= mesh.dim; ++j) act(cell[i], cell[j]);
    };
    std::vector<std::size_t> fill(mesh.vertices.size() + 1, 0);
    for_each_edge([&](std::size_t min, std::int32_t) { ++fill[min + 1]; });
    for (std::size_t v = 1; v < fill.size(); ++v) fill[v] += fill[v - 1];
    const std::vector<std::size_t> start = fill;
    max_.resize(start.back());
    for_each_edge([&](std::size_t min, std::int32_t max) { max_[fill[min]++] = max; });
    std::size_t out = 0;
    for (std::size_t v = 0; v + 1 < start.size(); ++v) {
      const auto first = max_.begin() + start[v];
      const auto last = max_.begin() + start[v + 1];
      std::sort(first, last);
      begin_[v] = out;
      for (auto it = first; it != last; ++it)
        if (it == first || *it != *(it - 1)) max_[out++] = *it;
    }
    begin_.back() = out;
    max_.resize(out);
  }

  std::size_t size() const { return max_.size(); }

  /// Number of the edge from `min` to `max`.
  std::size_t operator()(std::int32_t min, std::int32_t max) const {
    const auto first = max_.begin() + begin_[min];
    const auto last = max_.begin() + begin_[min + 1];
    return std::lower_bound(first, last, max) - max_.begin();
  }

  bool contains(std::int32_t min, std::int32_t max) const {
    return std::binary_search(max_.begin() + begin_[min], max_.begin() + begin_[min + 1], max);
  }

  template <class Act>
  void for_each(const Act& act) const {
    for (std::size_t v = 0; v + 1 < begin_.size(); ++v)
      for (std::size_t e = begin_[v]; e < begin_[v + 1]; ++e) act(v, max_[e]);
  }

private:
  std::vector<std::size_t> begin_;
  std::vector<std::int32_t> max_;
};

using Cell = std::array<std::int32_t, 4>;

void split_triangle(const Cell& v, const auto& mid, std::vector<Cell>& out) {
  const auto m01 = mid(0, 1), m02 = mid(0, 2), m12 = mid(1, 2);
  out.push_back({v[0], m01, m02, -1});
  out.push_back({v[1], m01, m12, -1});
  out.push_back({v[2], m02, m12, -1});
  out.push_back({m01, m02, m12, -1});
}

void split_tetrahedron(const Cell& v, const auto& mid, std::vector<Cell>& out) {
  const auto m01 = mid(0, 1), m02 = mid(0, 2), m03 = mid(0, 3);
  const auto m12 = mid(1, 2), m13 = mid(1, 3), m23 = mid(2, 3);
  out.push_back({v[0], m01, m02, m03});
  out.push_back({v[1], m01, m12, m13});
  out.push_back({v[2], m02, m12, m23});
  out.push_back({v[3], m03, m13, m23});
  // the octahedron: one child per face of the parent, around the diagonal m01-m23
  out.push_back({m01, m23, m12, m13});
  out.push_back({m01, m23, m02, m03});
  out.push_back({m01, m23, m03, m13});
  out.push_back({m01, m23, m02, m12});
}

/// Splits the facets in groups as their cells are split; those of no cell are left out.
void split_facets(BodyMesh& mesh, const EdgeNumbers& edges, std::int32_t first_middle) {
  const auto mid = [&](std::int32_t a, std::int32_t b) -> std::int32_t {
    return first_middle + std::int32_t(edges(std::min(a, b), std::max(a, b)));
  };
  const auto is_edge = [&](std::int32_t a, std::int32_t b) {
    return edges.contains(std::min(a, b), std::max(a, b));
  };
  std::vector<std::array<std::int32_t, 3>> facets;
  std::vector<std::int32_t> tags;
  for (std::size_t f = 0; f < mesh.facets.size(); ++f) {
    const auto [a, b, c] = mesh.facets[f];
    const std::size_t before = facets.size();
    if (c < 0 && is_edge(a, b)) {
      const std::int32_t middle = mid(a, b);
      facets.insert(facets.end(), {{a, middle, -1}, {middle, b, -1}});
    } else if (c >= 0 && is_edge(a, b) && is_edge(b, c) && is_edge(c, a)) {
      const std::int32_t ab = mid(a, b), bc = mid(b, c), ca = mid(c, a);
      facets.insert(facets.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    tags.insert(tags.end(), facets.size() - before, mesh.facet_tags[f]);
  }
  mesh.facets = std::move(facets);
  mesh.facet_tags = std::move(tags);
}

} // namespace

int side_of(const BodyMesh& mesh, const std::array<std::int32_t, 3>& facet, std::int32_t opposite,
            double rounding) {
  std::array<std::int32_t, 4> cell{-1, -1, -1, -1};
  std::copy_n(facet.begin(), mesh.dim, cell.begin());
  cell[mesh.dim] = opposite;
  const auto [determinant, scale] = measure(mesh, cell);
  return std::abs(determinant) <= rounding * scale ? 0 : determinant > 0 ? 1 : -1;
}

std::vector<std::array<std::int32_t, 2>> refine_once(BodyMesh& mesh, const std::string& where) {
  const std::size_t children = children_of_a_cell(mesh.dim);
  for (auto& cell : mesh.cells) std::sort(cell.begin(), cell.begin() + mesh.dim + 1);
  const EdgeNumbers edges(mesh);
  const std::size_t old_vertices = mesh.vertices.size();
  constexpr std::size_t limit = std::numeric_limits<std::int32_t>::max();
  if (old_vertices + edges.size() > limit || mesh.cells.size() > limit / children)
    throw InputError(where,
                     "n_refs makes more cells or vertices than 32-bit indices can number; take fewer levels");

  mesh.vertices.reserve(old_vertices + edges.size());
  std::vector<std::array<std::int32_t, 2>> split;
  split.reserve(edges.size());
  edges.for_each([&](std::size_t a, std::size_t b) {
    const Eigen::Vector3d middle = 0.5 * (mesh.vertices[a] + mesh.vertices[b]);
    mesh.vertices.push_back(middle);
    split.push_back({std::int32_t(a), std::int32_t(b)});
  });

  std::vector<Cell> cells;
  std::vector<std::int64_t> source;
  cells.reserve(children * mesh.cells.size());
  source.reserve(children * mesh.cells.size());
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const Cell& v = mesh.cells[c];
    const auto mid = [&](std::size_t i, std::size_t j) -> std::int32_t {
      return old_vertices + edges(v[i], v[j]);
    };
    mesh.dim == 2 ? split_triangle(v, mid, cells) : split_tetrahedron(v, mid, cells);
    source.insert(source.end(), children, mesh.cell_source[c]);
  }
  split_facets(mesh, edges, old_vertices);
  mesh.cells = std::move(cells);
  mesh.cell_source = std::move(source);
  mesh.tags.assign(mesh.cells.size(), mesh.tags.empty() ? 0 : mesh.tags.front());
  return split;
}

// A fine mesh has half as many vertices as triangles, a sixth as many as tetrahedra.
void check_refinement(const BodyMesh& mesh, int levels, const std::string& where, int ranks) {
  if (levels < 0)
    throw InputError(where, "n_refs is " + std::to_string(levels) + "; it must not be negative");
  if (levels == 0 || mesh.cells.empty()) return;
  for (std::size_t c = 1; c < mesh.tags.size(); ++c)
    if (mesh.tags[c] != mesh.tags[0])
      throw InputError(where, "n_refs cannot refine a mesh whose stored volume tags differ (cell 0 has " +
                                  std::to_string(mesh.tags[0]) + ", cell " + std::to_string(c) + " has " +
                                  std::to_string(mesh.tags[c]) + "); refine it with the mesh generator");
  const double cells =
      double(mesh.num_cells_of_body()) * std::pow(double(children_of_a_cell(mesh.dim)), levels);
  const double vertices = std::max(double(mesh.num_vertices_of_body()), cells / (mesh.dim == 2 ? 2 : 6));
  require_mesh_memory(cells, vertices, where, "n_refs " + std::to_string(levels), "take fewer levels", ranks);
}

BodyMesh body_mesh(RawMesh&& raw, const std::string& where) {
  BodyMesh mesh;
  if (!raw.tetrahedra.empty()) {
    mesh.cells = std::move(raw.tetrahedra);
    mesh.tags = std::move(raw.tetrahedron_tags);
  } else if (!raw.triangles.empty()) {
    check_planar(raw, where);
    mesh.dim = 2;
    mesh.cells.reserve(raw.triangles.size());
    for (const auto& t : raw.triangles) mesh.cells.push_back({t[0], t[1], t[2], -1});
    mesh.tags = std::move(raw.triangle_tags);
    for (auto& p : raw.vertices) p.z() = 0;
  } else {
    throw InputError(
        where, "has no triangles or tetrahedra; a deformable body needs them, an obstacle (is_obstacle) "
               "can do with edges and points");
  }
  mesh.tags.resize(mesh.cells.size(), 0);
  mesh.vertices = std::move(raw.vertices);
  mesh.cell_source.resize(mesh.cells.size());
  std::iota(mesh.cell_source.begin(), mesh.cell_source.end(), std::int64_t{0});
  return mesh;
}

BodyMesh body_mesh(FileMesh&& file, const std::string& where) {
  BodyMesh mesh = body_mesh(static_cast<RawMesh&&>(file), where);
  mesh.facets = std::move(file.facets);
  mesh.facet_tags = std::move(file.facet_tags);
  return mesh;
}

void orient(BodyMesh& mesh, const std::string& where) {
  // below this share of the product of edges the sign of the determinant is rounding
  constexpr double tolerance = 1e-15;
  const std::size_t last = mesh.dim;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const auto [determinant, scale] = measure(mesh, mesh.cells[c]);
    if (!(std::abs(determinant) > tolerance * scale) || !std::isfinite(determinant))
      fail_degenerate(mesh, c, where);
    if (determinant < 0) std::swap(mesh.cells[c][last - 1], mesh.cells[c][last]);
  }
}

void refine(BodyMesh& mesh, int levels, const std::string& where) {
  check_refinement(mesh, levels, where, 1);
  if (mesh.cells.empty()) return;
  for (int level = 0; level < levels; ++level) refine_once(mesh, where);
}

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
  if (mesh.cells.size() > (std::size_t{1} << 29))
    throw InputError(where, "has more than 2^29 cells; split it into several geometries");

  Boundary boundary;
  for_each_facet(mesh.cells, mesh.vertices.size(), mesh.dim, [&](std::span<const FacetEntry> cells) {
    if (cells.size() == 1)
      boundary.facets.push_back({cells[0].reference / 4, cells[0].reference % 4, boundary.num_all_facets});
    const auto opposite = [&](const FacetEntry& e) { return mesh.cells[e.reference / 4][e.reference % 4]; };
    if (cells.size() > 2 ||
        (cells.size() == 2 && (opposite(cells[0]) == opposite(cells[1]) || lie_on_one_side(mesh, cells))))
      fail_shared(mesh, cells, where);
    ++boundary.num_all_facets;
  });
  std::ranges::sort(boundary.facets, {}, [](const BoundaryFacet& f) { return std::pair(f.cell, f.local); });
  return boundary;
}

} // namespace recoil::mesh
