#include "recoil/cage/cut_cells.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <Eigen/Dense>

namespace recoil::cage {

namespace {

constexpr double margin = 0.1; ///< least distance of a cut from the ends of an edge over its length

using Triangle = std::array<std::int32_t, 3>;

template <int dim>
class Cutter {
public:
  Cutter(const CellMesh<dim>& mesh, std::span<const std::int32_t> labels, const EdgePlace& place)
      : mesh_(mesh), labels_(labels), place_(place) {
    cut_.vertices = mesh.vertices;
  }

  CutCells<dim> cut() {
    for (cell_ = 0; cell_ < std::ssize(mesh_.cells); ++cell_) {
      const auto& cell = mesh_.cells[cell_];
      const auto is_first = [&](std::int32_t v) { return labels_[v] == labels_[cell[0]]; };
      if (std::all_of(cell.begin(), cell.end(), is_first))
        add(cell, labels_[cell[0]]);
      else
        cut_cell(cell);
    }
    return std::move(cut_);
  }

private:
  void add(const std::array<std::int32_t, dim + 1>& cell, std::int32_t label) {
    cut_.cells.push_back(cell);
    cut_.labels.push_back(label);
    cut_.parents.push_back(static_cast<std::int32_t>(cell_));
  }

  void cut_cell(const Triangle& cell) {
    for_parts(cell, [&](const Triangle& part, std::int32_t label) { add(part, label); });
  }

  void cut_cell(const std::array<std::int32_t, 4>& cell) {
    std::array<std::int32_t, 4> sorted = cell; // by label, then number
    std::sort(sorted.begin(), sorted.end(),
              [&](auto a, auto b) { return std::pair(labels_[a], a) < std::pair(labels_[b], b); });
    const auto different = [&](int k) { return labels_[sorted[k]] != labels_[sorted[k - 1]]; };
    const int num_labels = 1 + different(1) + different(2) + different(3);
    if (num_labels > 2)
      cut_to_cone(cell);
    else if (different(2))
      cut_in_wedges(sorted);
    else if (different(1))
      cut_off_corner(sorted[0], {sorted[1], sorted[2], sorted[3]});
    else
      cut_off_corner(sorted[3], {sorted[0], sorted[1], sorted[2]});
  }

  /// Adds a tetrahedron with its orientation made positive.
  void add_oriented(std::array<std::int32_t, 4> cell, std::int32_t label) {
    const auto& x = cut_.vertices;
    const Point<dim> a = x[cell[0]];
    Eigen::Matrix<double, dim, dim> edges;
    for (int k = 0; k < dim; ++k) edges.col(k) = x[cell[k + 1]] - a;
    if (edges.determinant() < 0) std::swap(cell[0], cell[1]);
    add(cell, label);
  }

  /// One corner of a label, three (ascending) of another.
  void cut_off_corner(std::int32_t corner, const Triangle& base) {
    Triangle e;
    for (int k = 0; k < 3; ++k) e[k] = edge_point(corner, base[k]);
    add_oriented({corner, e[0], e[1], e[2]}, labels_[corner]);
    const auto label = labels_[base[0]];
    add_oriented({base[0], e[0], e[1], e[2]}, label);
    add_oriented({base[0], base[1], e[1], e[2]}, label);
    add_oriented({base[0], base[1], base[2], e[2]}, label);
  }

  /// Two corners of one label, two of another, both pairs ascending.
  void cut_in_wedges(const std::array<std::int32_t, 4>& corners) {
    const auto [u0, u1, v0, v1] = corners;
    const auto e00 = edge_point(u0, v0), e01 = edge_point(u0, v1), e10 = edge_point(u1, v0),
               e11 = edge_point(u1, v1);
    for (const auto& cell : std::array<std::array<std::int32_t, 4>, 3>{
             {{u0, u1, e10, e11}, {u0, e00, e10, e11}, {u0, e00, e01, e11}}})
      add_oriented(cell, labels_[u0]);
    for (const auto& cell : std::array<std::array<std::int32_t, 4>, 3>{
             {{v0, v1, e01, e11}, {v0, e00, e01, e11}, {v0, e00, e10, e11}}})
      add_oriented(cell, labels_[v0]);
  }

  /// Three labels or four: the cone from a point inside over the parts of the faces.
  void cut_to_cone(const std::array<std::int32_t, 4>& cell) {
    Point<dim> sum = Point<dim>::Zero();
    int count = 0;
    for (int k = 0; k < 4; ++k) {
      const auto face = face_of(cell, k);
      if (num_labels(face) < 3) continue;
      const auto centre = face_point(face);
      sum += cut_.vertices[centre];
      ++count;
    }
    const auto apex = static_cast<std::int32_t>(cut_.vertices.size());
    cut_.vertices.push_back(sum / count);
    for (int k = 0; k < 4; ++k)
      for_parts(face_of(cell, k), [&](const Triangle& part, std::int32_t label) {
        add_oriented({apex, part[0], part[1], part[2]}, label);
      });
  }

  static Triangle face_of(const std::array<std::int32_t, 4>& cell, int opposite) {
    Triangle face;
    for (int k = 0, n = 0; k < 4; ++k)
      if (k != opposite) face[n++] = cell[k];
    return face;
  }

  int num_labels(const Triangle& face) const {
    const auto a = labels_[face[0]], b = labels_[face[1]], c = labels_[face[2]];
    return 1 + (b != a) + (c != a && c != b);
  }

  /// Calls what(part, label) for the parts of a triangle, which keep its orientation.
  template <class What>
  void for_parts(const Triangle& face, const What& what) {
    const int count = num_labels(face);
    if (count == 1) return what(face, labels_[face[0]]);
    if (count == 3) {
      const auto centre = face_point(face);
      for (int k = 0; k < 3; ++k) {
        const auto v = face[k], next = face[(k + 1) % 3], last = face[(k + 2) % 3];
        what({v, edge_point(v, next), centre}, labels_[v]);
        what({v, centre, edge_point(v, last)}, labels_[v]);
      }
      return;
    }
    int k = 0; // the corner that is alone with its label
    while (labels_[face[k]] == labels_[face[(k + 1) % 3]] || labels_[face[k]] == labels_[face[(k + 2) % 3]])
      ++k;
    const auto u = face[k], v = face[(k + 1) % 3], w = face[(k + 2) % 3];
    const auto uv = edge_point(u, v), uw = edge_point(u, w);
    what({u, uv, uw}, labels_[u]);
    if (v < w) {
      what({uv, v, uw}, labels_[v]);
      what({v, w, uw}, labels_[v]);
    } else {
      what({uv, v, w}, labels_[v]);
      what({uv, w, uw}, labels_[v]);
    }
  }

  std::int32_t edge_point(std::int32_t a, std::int32_t b) {
    if (a > b) std::swap(a, b);
    const auto key = std::int64_t{a} << 32 | b;
    const auto [entry, is_new] =
        edge_points_.try_emplace(key, static_cast<std::int32_t>(cut_.vertices.size()));
    if (is_new) {
      const double t = std::clamp(place_(a, b), margin, 1 - margin);
      cut_.vertices.push_back((1 - t) * mesh_.vertices[a] + t * mesh_.vertices[b]);
    }
    return entry->second;
  }

  std::int32_t face_point(Triangle face) {
    std::sort(face.begin(), face.end());
    const auto entry = face_points_.find(face);
    if (entry != face_points_.end()) return entry->second;
    Point<dim> mean = Point<dim>::Zero();
    for (int k = 0; k < 3; ++k) mean += cut_.vertices[edge_point(face[k], face[(k + 1) % 3])] / 3;
    const auto number = static_cast<std::int32_t>(cut_.vertices.size());
    cut_.vertices.push_back(mean);
    face_points_.emplace(face, number);
    return number;
  }

  const CellMesh<dim>& mesh_;
  std::span<const std::int32_t> labels_;
  const EdgePlace& place_;
  CutCells<dim> cut_;
  std::ptrdiff_t cell_ = 0;
  std::unordered_map<std::int64_t, std::int32_t> edge_points_;
  std::map<Triangle, std::int32_t> face_points_;
};

} // namespace

template <int dim>
CutCells<dim> cut_cells(const CellMesh<dim>& mesh, std::span<const std::int32_t> vertex_labels,
                        const EdgePlace& place) {
  return Cutter<dim>(mesh, vertex_labels, place).cut();
}

template <int dim>
std::vector<Interface<dim>> interfaces(const CellMesh<dim>& mesh, std::span<const std::int32_t> labels) {
  struct Facet {
    std::array<std::int32_t, dim> sorted;
    std::int64_t cell;
    int opposite;
  };
  std::vector<Facet> facets;
  facets.reserve(mesh.cells.size() * (dim + 1));
  for (std::int64_t cell = 0; cell < std::ssize(mesh.cells); ++cell)
    for (int opposite = 0; opposite <= dim; ++opposite) {
      Facet facet{{}, cell, opposite};
      for (int k = 0, n = 0; k <= dim; ++k)
        if (k != opposite) facet.sorted[n++] = mesh.cells[cell][k];
      std::sort(facet.sorted.begin(), facet.sorted.end());
      facets.push_back(facet);
    }
  std::sort(facets.begin(), facets.end(), [](const Facet& a, const Facet& b) {
    return std::tie(a.sorted, a.cell) < std::tie(b.sorted, b.cell);
  });
  std::vector<Interface<dim>> result;
  for (std::size_t f = 0; f < facets.size(); ++f) {
    const bool is_inner = f + 1 < facets.size() && facets[f].sorted == facets[f + 1].sorted;
    auto* side = &facets[f];
    std::int32_t other = -1;
    if (is_inner) {
      auto* beyond = &facets[f + 1];
      if (labels[side->cell] > labels[beyond->cell]) std::swap(side, beyond);
      other = labels[beyond->cell];
      ++f;
    }
    if (other == labels[side->cell]) continue;
    Interface<dim> interface { {}, labels[side->cell], other };
    for (int k = 0, n = 0; k <= dim; ++k)
      if (k != side->opposite) interface.vertices[n++] = mesh.cells[side->cell][k];
    if (side->opposite % 2 == 1) std::swap(interface.vertices[0], interface.vertices[1]); // outwards
    result.push_back(interface);
  }
  return result;
}

template <int dim>
double volume(const CellMesh<dim>& mesh, std::size_t cell) {
  const auto& corners = mesh.cells[cell];
  Eigen::Matrix<double, dim, dim> edges;
  for (int k = 0; k < dim; ++k) edges.col(k) = mesh.vertices[corners[k + 1]] - mesh.vertices[corners[0]];
  return edges.determinant() / (dim == 3 ? 6 : 2);
}

#define RECOIL_CUT_CELLS(dim)                                                                                \
  template CutCells<dim> cut_cells(const CellMesh<dim>&, std::span<const std::int32_t>, const EdgePlace&);   \
  template std::vector<Interface<dim>> interfaces(const CellMesh<dim>&, std::span<const std::int32_t>);      \
  template double volume(const CellMesh<dim>&, std::size_t);
RECOIL_CUT_CELLS(2)
RECOIL_CUT_CELLS(3)
#undef RECOIL_CUT_CELLS

} // namespace recoil::cage
