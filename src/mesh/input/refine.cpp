#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/input/mesh_memory.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/body_mesh.hpp"

namespace recoil::mesh {

namespace {

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

std::size_t children_of_a_cell(const BodyMesh& mesh) { return mesh.dim == 2 ? 4 : 8; }

/// Before anything is refined. A fine mesh has half as many vertices as triangles, a sixth as many as
/// tetrahedra.
void check_size(const BodyMesh& mesh, int levels, const std::string& where) {
  const double cells = double(mesh.cells.size()) * std::pow(double(children_of_a_cell(mesh)), levels);
  require_mesh_memory(cells, std::max(double(mesh.vertices.size()), cells / (mesh.dim == 2 ? 2 : 6)), where,
                      "n_refs " + std::to_string(levels), "take fewer levels");
}

void refine_once(BodyMesh& mesh, const std::string& where) {
  const std::size_t children = children_of_a_cell(mesh);
  for (auto& cell : mesh.cells) std::sort(cell.begin(), cell.begin() + mesh.dim + 1);
  const EdgeNumbers edges(mesh);
  const std::size_t old_vertices = mesh.vertices.size();
  constexpr std::size_t limit = std::numeric_limits<std::int32_t>::max();
  if (old_vertices + edges.size() > limit || mesh.cells.size() > limit / children)
    throw InputError(where,
                     "n_refs makes more cells or vertices than 32-bit indices can number; take fewer levels");

  mesh.vertices.reserve(old_vertices + edges.size());
  edges.for_each([&](std::size_t a, std::size_t b) {
    const Eigen::Vector3d middle = 0.5 * (mesh.vertices[a] + mesh.vertices[b]);
    mesh.vertices.push_back(middle);
  });

  std::vector<Cell> cells;
  std::vector<std::int64_t> source;
  cells.reserve(children * mesh.cells.size());
  source.reserve(children * mesh.cells.size());
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const Cell& v = mesh.cells[c];
    const auto mid = [&](std::size_t i, std::size_t j) {
      return static_cast<std::int32_t>(old_vertices + edges(v[i], v[j]));
    };
    mesh.dim == 2 ? split_triangle(v, mid, cells) : split_tetrahedron(v, mid, cells);
    source.insert(source.end(), children, mesh.cell_source[c]);
  }
  mesh.cells = std::move(cells);
  mesh.cell_source = std::move(source);
  mesh.tags.assign(mesh.cells.size(), mesh.tags.front());
}

} // namespace

void refine(BodyMesh& mesh, int levels, const std::string& where) {
  if (levels < 0)
    throw InputError(where, "n_refs is " + std::to_string(levels) + "; it must not be negative");
  if (levels == 0 || mesh.cells.empty()) return;
  for (std::size_t c = 1; c < mesh.tags.size(); ++c)
    if (mesh.tags[c] != mesh.tags[0])
      throw InputError(where, "n_refs cannot refine a mesh whose stored volume tags differ (cell 0 has " +
                                  std::to_string(mesh.tags[0]) + ", cell " + std::to_string(c) + " has " +
                                  std::to_string(mesh.tags[c]) + "); refine it with the mesh generator");
  check_size(mesh, levels, where);
  for (int level = 0; level < levels; ++level) refine_once(mesh, where);
}

} // namespace recoil::mesh
