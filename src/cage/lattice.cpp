#include "cage/lattice.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "recoil/base/union_find.hpp"

namespace recoil::cage {

namespace {

/// Where the lattice lies against the box: generic, so that planes of the input miss those of the lattice.
constexpr double offset[3] = {2.3819660113, 2.2763932023, 2.4142135624};

/// Whether two convex hulls have no common point along `axis`, with a margin.
template <int dim, class First, class Second>
bool are_separated(const Point<dim>& axis, const First& first, const Second& second, double margin) {
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
  for (const auto& x : first)
    low[0] = std::min(low[0], axis.dot(x)), high[0] = std::max(high[0], axis.dot(x));
  for (const auto& x : second)
    low[1] = std::min(low[1], axis.dot(x)), high[1] = std::max(high[1], axis.dot(x));
  const double gap = std::max(low[1] - high[0], low[0] - high[1]);
  return gap > margin * axis.norm();
}

/// Whether a triangle and a tetrahedron may have a common point: no axis of [Gottschalk et al. 1996]
/// separates them by more than `margin`.
bool may_meet(const std::array<Point<3>, 3>& facet, const std::array<Point<3>, 4>& cell, double margin) {
  const auto separates = [&](const Point<3>& axis) { return are_separated<3>(axis, facet, cell, margin); };
  if (separates((facet[1] - facet[0]).cross(facet[2] - facet[0]))) return false;
  for (int k = 0; k < 4; ++k) {
    const auto &a = cell[k], &b = cell[(k + 1) % 4], &c = cell[(k + 2) % 4];
    if (separates((b - a).cross(c - a))) return false;
  }
  for (int i = 0; i < 3; ++i)
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b)
        if (separates((facet[(i + 1) % 3] - facet[i]).cross(cell[b] - cell[a]))) return false;
  return true;
}

bool may_meet(const std::array<Point<2>, 2>& facet, const std::array<Point<2>, 3>& cell, double margin) {
  const auto separates = [&](const Point<2>& along) {
    return are_separated<2>(Point<2>(-along.y(), along.x()), facet, cell, margin);
  };
  for (int k = 0; k < 3; ++k)
    if (separates(cell[(k + 1) % 3] - cell[k])) return false;
  return !separates(facet[1] - facet[0]);
}

template <int dim>
std::array<Point<dim>, dim + 1> corners_of(const Lattice<dim>& lattice, std::int64_t cell) {
  const auto vertices = lattice.vertices(cell);
  std::array<Point<dim>, dim + 1> corners;
  for (int k = 0; k <= dim; ++k) corners[k] = lattice.position(vertices[k]);
  return corners;
}

/// Whether the cells around a vertex with this flag are connected by facets at the vertex.
template <int dim>
bool are_connected(const Lattice<dim>& lattice, const std::vector<std::int64_t>& around,
                   const std::vector<char>& flags, bool flag) {
  std::vector<std::array<std::int64_t, dim + 1>> chosen;
  for (const auto cell : around)
    if (static_cast<bool>(flags[cell]) == flag) chosen.push_back(lattice.vertices(cell));
  UnionFind<int> sets(static_cast<int>(chosen.size()));
  for (std::size_t a = 0; a < chosen.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      int common = 0;
      for (const auto v : chosen[a])
        common += std::find(chosen[b].begin(), chosen[b].end(), v) != chosen[b].end();
      if (common == dim) sets.unite(static_cast<int>(a), static_cast<int>(b));
    }
  for (std::size_t a = 0; a < chosen.size(); ++a)
    if (sets.root(static_cast<int>(a)) != 0) return false;
  return true;
}

} // namespace

template <int dim>
Lattice<dim>::Lattice(const Eigen::AlignedBox<double, dim>& box, double h) : h_(h) {
  for (int k = 0; k < dim; ++k) {
    origin_[k] = box.min()[k] - offset[k] * h;
    cubes_[k] = static_cast<std::int64_t>(std::ceil((box.max()[k] - origin_[k]) / h)) + 2;
  }
  corners_ = cubes_.array() + 1;
  num_corners_ = corners_.prod();
}

template <int dim>
std::int64_t Lattice<dim>::number(const Index& at, const Index& sizes) {
  std::int64_t number = 0;
  for (int k = dim; k-- > 0;) number = number * sizes[k] + at[k];
  return number;
}

template <int dim>
typename Lattice<dim>::Index Lattice<dim>::place(std::int64_t number, const Index& sizes) {
  Index at;
  for (int k = 0; k < dim; ++k) at[k] = number % sizes[k], number /= sizes[k];
  return at;
}

template <int dim>
bool Lattice<dim>::exists(Cell cell) const {
  const int axis = static_cast<int>(cell / parts % dim);
  return place(cell / parts / dim, cubes_)[axis] + 1 < cubes_[axis];
}

template <int dim>
std::array<std::int64_t, dim + 1> Lattice<dim>::vertices(Cell cell) const {
  const int part = static_cast<int>(cell % parts), axis = static_cast<int>(cell / parts % dim);
  const Index cube = place(cell / parts / dim, cubes_);
  Index next = cube;
  ++next[axis];
  const auto corner = [&](int k) { // of the face between the cubes, around it
    Index at = next;
    at[(axis + 1) % dim] += k == 1 || k == 2;
    if (dim == 3) at[(axis + 2) % dim] += k == 2 || k == 3;
    return number(at, corners_);
  };
  const Vertex first = num_corners_ + number(cube, cubes_), second = num_corners_ + number(next, cubes_);
  if constexpr (dim == 3) return {first, second, corner(part), corner((part + 1) % 4)};
  // in 2D the other axis lies to the left of axis 0 and to the right of axis 1
  else if ((axis == 0) == (part == 1))
    return {first, second, corner(part)};
  else
    return {second, first, corner(part)};
}

template <int dim>
Point<dim> Lattice<dim>::position(Vertex vertex) const {
  const bool is_centre = vertex >= num_corners_;
  const Index at = is_centre ? place(vertex - num_corners_, cubes_) : place(vertex, corners_);
  return origin_ + h_ * (at.template cast<double>().array() + (is_centre ? 0.5 : 0.0)).matrix();
}

template <int dim>
void Lattice<dim>::find_around(Vertex vertex, std::vector<Cell>& cells) const {
  cells.clear();
  const auto add = [&](const Index& cube) {
    if ((cube.array() < 0).any() || (cube.array() >= cubes_.array()).any()) return;
    for (int axis = 0; axis < dim; ++axis) {
      if (cube[axis] + 1 >= cubes_[axis]) continue;
      for (int part = 0; part < parts; ++part) {
        const Cell cell = (number(cube, cubes_) * dim + axis) * parts + part;
        const auto of_cell = vertices(cell);
        if (std::find(of_cell.begin(), of_cell.end(), vertex) != of_cell.end()) cells.push_back(cell);
      }
    }
  };
  if (vertex >= num_corners_) {
    const Index cube = place(vertex - num_corners_, cubes_);
    add(cube);
    for (int axis = 0; axis < dim; ++axis) {
      Index before = cube;
      --before[axis];
      add(before);
    }
  } else {
    const Index corner = place(vertex, corners_);
    for (int k = 0; k < 1 << dim; ++k) {
      Index cube = corner;
      for (int axis = 0; axis < dim; ++axis) cube[axis] -= k >> axis & 1;
      add(cube);
    }
  }
}

template <int dim>
template <class What>
void Lattice<dim>::for_cells_near(const Eigen::AlignedBox<double, dim>& box, const What& what) const {
  const double margin = 1e-6 * h_;
  Index low, high;
  for (int k = 0; k < dim; ++k) {
    low[k] =
        std::max<std::int64_t>(0, std::int64_t(std::floor((box.min()[k] - margin - origin_[k]) / h_)) - 1);
    high[k] = std::min(cubes_[k] - 1, std::int64_t(std::floor((box.max()[k] + margin - origin_[k]) / h_)));
  }
  const Index sizes = high - low + Index::Ones();
  for (std::int64_t n = 0; n < sizes.prod(); ++n) {
    const Index cube = low + place(n, sizes);
    for (int axis = 0; axis < dim; ++axis) {
      if (cube[axis] + 1 >= cubes_[axis]) continue;
      // its cells fill the octahedron around the middle of the face
      Point<dim> middle = origin_ + h_ * (cube.template cast<double>().array() + 0.5).matrix();
      middle[axis] += 0.5 * h_;
      if (((middle - box.min()).array() > -0.5 * h_ - margin).all() &&
          ((middle - box.max()).array() < 0.5 * h_ + margin).all())
        what((number(cube, cubes_) * dim + axis) * parts, middle);
    }
  }
}

namespace {

/// Flags the cells that a facet may meet.
template <int dim>
void flag_cells_at(const Lattice<dim>& lattice, const std::array<Point<dim>, dim>& corners,
                   std::vector<char>& flags) {
  Eigen::AlignedBox<double, dim> box;
  for (const auto& corner : corners) box.extend(corner);
  Point<dim> normal;
  if constexpr (dim == 3)
    normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
  else
    normal = Point<2>(corners[0].y() - corners[1].y(), corners[1].x() - corners[0].x()).normalized();
  const double margin = 1e-9 * lattice.edge();
  lattice.for_cells_near(box, [&](std::int64_t first, const Point<dim>& middle) {
    if (std::abs(normal.dot(middle - corners[0])) > 0.75 * lattice.edge()) return;
    for (auto cell = first; cell < first + Lattice<dim>::parts; ++cell)
      if (!flags[cell]) flags[cell] = may_meet(corners, corners_of(lattice, cell), margin);
  });
}

} // namespace

template <int dim>
std::vector<char> cells_that_contain(const Lattice<dim>& lattice,
                                     std::span<const FacetMesh<dim>* const> surfaces,
                                     const WindingTree<dim>& tree, bool is_closed) {
  std::vector<char> flags(lattice.num_cells(), 0);
  for (const auto* surface : surfaces)
    for (const auto& facet : surface->facets) {
      std::array<Point<dim>, dim> corners;
      for (int k = 0; k < dim; ++k) corners[k] = surface->vertices[facet[k]];
      flag_cells_at<dim>(lattice, corners, flags);
    }
  UnionFind<std::int64_t> sets(lattice.num_vertices());
  const auto is_free = [&](std::int64_t cell) { return !flags[cell] && lattice.exists(cell); };
  for (std::int64_t cell = 0; is_closed && cell < lattice.num_cells(); ++cell)
    if (is_free(cell))
      for (const auto v : lattice.vertices(cell)) sets.unite(v, lattice.vertices(cell)[0]);
  std::vector<char> enclosed(lattice.num_vertices(), -1); // by the first vertex of a set
  for (std::int64_t cell = 0; cell < lattice.num_cells(); ++cell) {
    if (!is_free(cell)) continue;
    for (const auto v : lattice.vertices(cell)) {
      const auto first = sets.root(v);
      if (enclosed[first] < 0) enclosed[first] = tree.encloses(lattice.position(v));
      flags[cell] |= enclosed[first];
    }
  }
  return flags;
}

template <int dim>
void make_boundary_manifold(const Lattice<dim>& lattice, std::vector<char>& flags) {
  std::vector<char> queued(lattice.num_vertices(), 0);
  std::vector<std::int64_t> queue, around;
  const auto push = [&](std::int64_t cell) {
    for (const auto v : lattice.vertices(cell))
      if (!queued[v]) queued[v] = 1, queue.push_back(v);
  };
  for (std::int64_t cell = 0; cell < lattice.num_cells(); ++cell)
    if (flags[cell]) push(cell);
  while (!queue.empty()) {
    const auto v = queue.back();
    queue.pop_back();
    queued[v] = 0;
    lattice.find_around(v, around);
    const auto count =
        std::count_if(around.begin(), around.end(), [&](auto cell) { return flags[cell] != 0; });
    if (count == 0 || count == std::ssize(around)) continue;
    if (are_connected(lattice, around, flags, true) && are_connected(lattice, around, flags, false)) continue;
    for (const auto cell : around)
      if (!flags[cell]) flags[cell] = 1, push(cell);
  }
}

template <int dim>
std::pair<CellMesh<dim>, std::vector<std::int64_t>> extract(const Lattice<dim>& lattice,
                                                            const std::vector<char>& flags) {
  std::pair<CellMesh<dim>, std::vector<std::int64_t>> result;
  auto& [mesh, sources] = result;
  std::unordered_map<std::int64_t, std::int32_t> numbers;
  for (std::int64_t cell = 0; cell < lattice.num_cells(); ++cell) {
    if (!flags[cell]) continue;
    auto& corners = mesh.cells.emplace_back();
    const auto vertices = lattice.vertices(cell);
    for (int k = 0; k <= dim; ++k) {
      const auto [entry, is_new] =
          numbers.try_emplace(vertices[k], static_cast<std::int32_t>(sources.size()));
      if (is_new) sources.push_back(vertices[k]), mesh.vertices.push_back(lattice.position(vertices[k]));
      corners[k] = entry->second;
    }
  }
  return result;
}

#define RECOIL_LATTICE(dim)                                                                                  \
  template class Lattice<dim>;                                                                               \
  template std::vector<char> cells_that_contain(const Lattice<dim>&, std::span<const FacetMesh<dim>* const>, \
                                                const WindingTree<dim>&, bool);                              \
  template void make_boundary_manifold(const Lattice<dim>&, std::vector<char>&);                             \
  template std::pair<CellMesh<dim>, std::vector<std::int64_t>> extract(const Lattice<dim>&,                  \
                                                                       const std::vector<char>&);
RECOIL_LATTICE(2)
RECOIL_LATTICE(3)
#undef RECOIL_LATTICE

} // namespace recoil::cage
