#include "recoil/mesh/input/raw_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mesh/input/describe.hpp"
#include "mesh/input/shape_by_numbers.hpp"
#include "recoil/base/error.hpp"

namespace recoil::mesh {

namespace {

/// The checked numbers of a generator.
class Numbers {
public:
  Numbers(const Generator& generator, const std::string& where, int ranks)
      : generator_(generator), where_(where), ranks_(ranks) {}

  double positive(double value, const char* key) const {
    if (!(value > 0) || !std::isfinite(value))
      fail(std::string(key) + " is " + describe(value) + "; it must be positive");
    return value;
  }
  Eigen::Vector3d size(std::size_t dim) const {
    if (generator_.size.size() != dim)
      fail("size has " + std::to_string(generator_.size.size()) + " numbers, needs " + std::to_string(dim));
    Eigen::Vector3d size = Eigen::Vector3d::Zero();
    for (std::size_t k = 0; k < dim; ++k) size[k] = positive(generator_.size[k], "size");
    return size;
  }
  /// One number per entry; a single one stands for all when `repeat`.
  std::vector<std::int64_t> divisions(std::size_t count, bool repeat) const {
    const auto& given = generator_.divisions;
    if (given.empty()) return std::vector<std::int64_t>(count, 1);
    if (given.size() != count && !(repeat && given.size() == 1))
      fail("divisions has " + std::to_string(given.size()) + " numbers, needs " + std::to_string(count));
    std::vector<std::int64_t> divisions(count);
    for (std::size_t k = 0; k < count; ++k) {
      divisions[k] = given[given.size() == 1 ? 0 : k];
      if (divisions[k] < 1)
        fail("divisions has the entry " + std::to_string(divisions[k]) + "; it must be at least 1");
    }
    return divisions;
  }
  void check_total(double cells, double vertices) const {
    require_mesh_memory(cells, vertices, where_ + ": " + kind(),
                        "divisions [" + list_of(generator_.divisions) + "]", "take fewer divisions", ranks_);
  }

private:
  std::string kind() const {
    static constexpr const char* names[] = {"box", "rectangle", "ball", "disk", "cylinder", "plate"};
    return std::string("generator ") + names[static_cast<int>(generator_.shape)];
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(where_, kind() + ": " + message);
  }
  const Generator& generator_;
  const std::string& where_;
  int ranks_;
};

/// Vertices and cubes of a lattice, x fastest.
struct Lattice {
  std::array<std::int64_t, 3> cells;

  std::int32_t vertex(const std::array<std::int64_t, 3>& i) const {
    return (i[2] * (cells[1] + 1) + i[1]) * (cells[0] + 1) + i[0];
  }
  std::array<std::int64_t, 3> place_of_vertex(std::int64_t vertex) const {
    const std::int64_t nx = cells[0] + 1, ny = cells[1] + 1;
    return {vertex % nx, vertex / nx % ny, vertex / nx / ny};
  }
  std::array<std::int64_t, 3> place_of_cube(std::int64_t cube) const {
    return {cube % cells[0], cube / cells[0] % cells[1], cube / cells[0] / cells[1]};
  }
  double cell_count() const { return double(cells[0]) * double(cells[1]) * double(cells[2]); }
  double vertex_count() const { return double(cells[0] + 1) * double(cells[1] + 1) * double(cells[2] + 1); }
};

Eigen::Array3d as_array(const std::array<std::int64_t, 3>& i) {
  return Eigen::Array3d(double(i[0]), double(i[1]), double(i[2]));
}

/// One of the six tetrahedra of a cube, one for each order in which a path along its edges takes the three
/// axes from its corner `start` to the opposite one.
std::array<std::int32_t, 4> kuhn_cell(const Lattice& lattice, std::array<std::int64_t, 3> place,
                                      const std::array<int, 3>& start, std::size_t order) {
  constexpr std::size_t orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (std::size_t k = 0; k < 3; ++k) place[k] += start[k];
  std::array<std::int32_t, 4> v{lattice.vertex(place)};
  for (std::size_t step = 0; step < 3; ++step) {
    const auto axis = orders[order][step];
    place[axis] += start[axis] ? -1 : 1;
    v[step + 1] = lattice.vertex(place);
  }
  const bool mirrored = (start[0] + start[1] + start[2]) % 2 == 1;
  if ((order >= 3) != mirrored) std::swap(v[2], v[3]);
  return v;
}

ShapeByNumbers box(const Numbers& numbers) {
  const Eigen::Array3d size = numbers.size(3);
  const auto n = numbers.divisions(3, true);
  const Lattice lattice{{n[0], n[1], n[2]}};
  numbers.check_total(6 * lattice.cell_count(), lattice.vertex_count());
  const Eigen::Array3d cells = as_array(lattice.cells);
  return {3, std::int64_t(lattice.vertex_count()), std::int64_t(6 * lattice.cell_count()),
          [=](std::int64_t vertex) -> Eigen::Vector3d {
            return size * (as_array(lattice.place_of_vertex(vertex)) / cells - 0.5);
          },
          [=](std::int64_t cell) {
            return kuhn_cell(lattice, lattice.place_of_cube(cell / 6), {}, std::size_t(cell % 6));
          }};
}

ShapeByNumbers rectangle(const Numbers& numbers) {
  const Eigen::Array3d size = numbers.size(2);
  const auto n = numbers.divisions(2, true);
  const Lattice lattice{{n[0], n[1], 0}};
  numbers.check_total(2 * double(n[0]) * double(n[1]), lattice.vertex_count());
  const Eigen::Array3d cells = as_array({n[0], n[1], 1});
  return {2, std::int64_t(lattice.vertex_count()), 2 * n[0] * n[1],
          [=](std::int64_t vertex) -> Eigen::Vector3d {
            return size * (as_array(lattice.place_of_vertex(vertex)) / cells - Eigen::Array3d(0.5, 0.5, 0));
          },
          [=](std::int64_t cell) -> std::array<std::int32_t, 4> {
            const std::int64_t i = cell / 2 % lattice.cells[0], j = cell / 2 / lattice.cells[0];
            const auto v00 = lattice.vertex({i, j, 0}), v11 = lattice.vertex({i + 1, j + 1, 0});
            if (cell % 2 == 0) return {v00, lattice.vertex({i + 1, j, 0}), v11, -1};
            return {v00, v11, lattice.vertex({i, j + 1, 0}), -1};
          }};
}

/// The largest k >= 0 with count(k) <= number, found from a guess that rounding makes wrong by little.
template <class Count>
std::int64_t last_with(const Count& count, std::int64_t number, double guess) {
  auto k = std::int64_t(guess);
  while (count(k) > number) --k;
  while (count(k + 1) <= number) ++k;
  return k;
}

/// Ring k has 6 k vertices: the triangular lattice of a hexagon, pushed outwards to circles.
ShapeByNumbers disk_of(double radius, std::int64_t rings) {
  const auto vertex = [](std::int64_t ring, std::int64_t j) -> std::int32_t {
    return ring == 0 ? 0 : 1 + 3 * ring * (ring - 1) + j % (6 * ring);
  };
  return {2, 1 + 3 * rings * (rings + 1), 6 * rings * rings,
          [=](std::int64_t number) -> Eigen::Vector3d {
            if (number == 0) return Eigen::Vector3d::Zero();
            const auto first = [](std::int64_t k) { return k == 0 ? 0 : 1 + 3 * k * (k - 1); };
            const std::int64_t k = last_with(first, number, std::sqrt(double(number) / 3));
            const double angle = 2 * std::numbers::pi * double(number - first(k)) / double(6 * k),
                         r = radius * double(k) / double(rings);
            return {r * std::cos(angle), r * std::sin(angle), 0};
          },
          [=](std::int64_t number) -> std::array<std::int32_t, 4> {
            const auto first = [](std::int64_t k) { return 6 * k * k; };
            const std::int64_t inside = last_with(first, number, std::sqrt(double(number) / 6)),
                               k = inside + 1;
            const std::int64_t in_ring = number - first(inside), sector = in_ring / (2 * k - 1);
            const std::int64_t in_sector = in_ring % (2 * k - 1), j = in_sector / 2;
            const auto outer = sector * k + j, inner = sector * (k - 1) + j;
            if (in_sector % 2 == 0) return {vertex(k - 1, inner), vertex(k, outer), vertex(k, outer + 1), -1};
            return {vertex(k - 1, inner), vertex(k, outer + 1), vertex(k - 1, inner + 1), -1};
          }};
}

ShapeByNumbers disk(const Generator& generator, const Numbers& numbers) {
  const double radius = numbers.positive(generator.radius, "radius");
  const auto n = numbers.divisions(1, false)[0];
  numbers.check_total(6 * double(n) * double(n), 3 * double(n) * double(n + 1) + 1);
  return disk_of(radius, n);
}

/// One of the three tetrahedra of the prism between a triangle and the same one `stride` vertices later.
std::array<std::int32_t, 4> prism_cell(std::array<std::int32_t, 3> a, std::int32_t stride, int which) {
  // the diagonal of each side face starts at its smaller vertex, as seen from both prisms
  std::rotate(a.begin(), std::min_element(a.begin(), a.end()), a.end());
  const std::array<std::int32_t, 3> b{a[0] + stride, a[1] + stride, a[2] + stride};
  if (which == 2) return {a[0], b[1], b[2], b[0]};
  if (a[1] < a[2]) {
    if (which == 0) return {a[0], a[1], a[2], b[2]};
    return {a[0], a[1], b[2], b[1]};
  }
  if (which == 0) return {a[0], a[1], a[2], b[1]};
  return {a[0], b[1], a[2], b[2]};
}

ShapeByNumbers cylinder(const Generator& generator, const Numbers& numbers) {
  const double radius = numbers.positive(generator.radius, "radius");
  const double height = numbers.positive(generator.height, "height");
  const auto n = numbers.divisions(2, false);
  numbers.check_total(18 * double(n[0]) * double(n[0]) * double(n[1]),
                      (3 * double(n[0]) * double(n[0] + 1) + 1) * double(n[1] + 1));
  const ShapeByNumbers base = disk_of(radius, n[0]);
  const std::int64_t layers = n[1], stride = base.num_vertices;
  return {
      3, stride * (layers + 1), 3 * base.num_cells * layers,
      [=](std::int64_t vertex) -> Eigen::Vector3d {
        const Eigen::Vector3d p = base.vertex(vertex % stride);
        return {p.x(), p.y(), height * (double(vertex / stride) / double(layers) - 0.5)};
      },
      [=](std::int64_t cell) {
        const std::int64_t prism = cell / 3;
        const auto t = base.cell(prism % base.num_cells);
        const auto first = std::int32_t(prism / base.num_cells * stride);
        return prism_cell({t[0] + first, t[1] + first, t[2] + first}, std::int32_t(stride), int(cell % 3));
      }};
}

/// Maps the cube [-1, 1]^3 onto the unit ball, cubes around the origin onto spheres. On each shell equal
/// steps become equal angles.
Eigen::Vector3d cube_to_ball(const Eigen::Vector3d& p) {
  const double shell = p.cwiseAbs().maxCoeff();
  if (shell == 0) return p;
  const Eigen::Vector3d direction =
      (p.array() / shell).unaryExpr([](double s) { return std::tan(s * std::numbers::pi / 4); }).matrix();
  return shell * direction.normalized();
}

ShapeByNumbers ball(const Generator& generator, const Numbers& numbers) {
  const double radius = numbers.positive(generator.radius, "radius");
  const auto n = numbers.divisions(1, false)[0];
  const Lattice lattice{{2 * n, 2 * n, 2 * n}};
  numbers.check_total(6 * lattice.cell_count(), lattice.vertex_count());
  return {3, std::int64_t(lattice.vertex_count()), std::int64_t(6 * lattice.cell_count()),
          [=](std::int64_t vertex) -> Eigen::Vector3d {
            const Eigen::Vector3d i = as_array(lattice.place_of_vertex(vertex));
            return radius * cube_to_ball(i / double(n) - Eigen::Vector3d::Ones());
          },
          [=](std::int64_t cell) {
            const auto place = lattice.place_of_cube(cell / 6);
            // the common edge of the six tetrahedra points outwards: no tetrahedron has two faces on the
            // sphere
            const std::array<int, 3> start{place[0] < n, place[1] < n, place[2] < n};
            return kuhn_cell(lattice, place, start, std::size_t(cell % 6));
          }};
}

} // namespace

int dimension(GeneratorShape shape) {
  return shape == GeneratorShape::rectangle || shape == GeneratorShape::disk ? 2 : 3;
}

ShapeByNumbers shape_by_numbers(const Generator& generator, const std::string& where, int ranks) {
  const Numbers numbers(generator, where, ranks);
  switch (generator.shape) {
  case GeneratorShape::rectangle:
    return rectangle(numbers);
  case GeneratorShape::ball:
    return ball(generator, numbers);
  case GeneratorShape::disk:
    return disk(generator, numbers);
  case GeneratorShape::cylinder:
    return cylinder(generator, numbers);
  default:
    return box(numbers);
  }
}

RawMesh generate(const Generator& generator, const std::string& where) {
  const ShapeByNumbers shape = shape_by_numbers(generator, where, 1);
  RawMesh mesh;
  mesh.vertices.reserve(shape.num_vertices);
  for (std::int64_t v = 0; v < shape.num_vertices; ++v) mesh.vertices.push_back(shape.vertex(v));
  if (shape.dim == 3) {
    mesh.tetrahedra.reserve(shape.num_cells);
    for (std::int64_t c = 0; c < shape.num_cells; ++c) mesh.tetrahedra.push_back(shape.cell(c));
  } else {
    for (std::int64_t c = 0; c < shape.num_cells; ++c) {
      const auto v = shape.cell(c);
      mesh.triangles.push_back({v[0], v[1], v[2]});
    }
  }
  mesh.tetrahedron_tags.assign(mesh.tetrahedra.size(), 0);
  mesh.triangle_tags.assign(mesh.triangles.size(), 0);
  return mesh;
}

} // namespace recoil::mesh
