#include "recoil/mesh/input/raw_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mesh/input/describe.hpp"
#include "recoil/base/error.hpp"

namespace recoil::mesh {

namespace {

/// The checked numbers of a generator.
class Numbers {
public:
  Numbers(const Generator& generator, const std::string& where) : generator_(generator), where_(where) {}

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
                        "divisions [" + list_of(generator_.divisions) + "]", "take fewer divisions");
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
};

/// Number of a vertex of a lattice, x fastest.
struct Lattice {
  std::array<std::int64_t, 3> cells;

  std::int32_t vertex(const std::array<std::int64_t, 3>& i) const {
    return (i[2] * (cells[1] + 1) + i[1]) * (cells[0] + 1) + i[0];
  }
  template <class Act>
  void for_each_vertex(const Act& act) const {
    for (std::int64_t k = 0; k <= cells[2]; ++k)
      for (std::int64_t j = 0; j <= cells[1]; ++j)
        for (std::int64_t i = 0; i <= cells[0]; ++i) act(Eigen::Vector3d(double(i), double(j), double(k)));
  }
  double cell_count() const { return double(cells[0]) * double(cells[1]) * double(cells[2]); }
  double vertex_count() const { return double(cells[0] + 1) * double(cells[1] + 1) * double(cells[2] + 1); }
};

/// Six tetrahedra per cube, one for each order in which a path along its edges takes the three axes from the
/// corner given by `start` to the opposite one.
template <class Start>
void add_kuhn_cells(const Lattice& lattice, const Start& start, RawMesh& mesh) {
  constexpr std::size_t orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  std::array<std::int64_t, 3> cell;
  for (cell[2] = 0; cell[2] < lattice.cells[2]; ++cell[2])
    for (cell[1] = 0; cell[1] < lattice.cells[1]; ++cell[1])
      for (cell[0] = 0; cell[0] < lattice.cells[0]; ++cell[0]) {
        const std::array<int, 3> corner = start(cell);
        const bool mirrored = (corner[0] + corner[1] + corner[2]) % 2 == 1;
        for (std::size_t o = 0; o < 6; ++o) {
          auto place = cell;
          for (std::size_t k = 0; k < 3; ++k) place[k] += corner[k];
          std::array<std::int32_t, 4> v{lattice.vertex(place)};
          for (std::size_t step = 0; step < 3; ++step) {
            const auto axis = orders[o][step];
            place[axis] += corner[axis] ? -1 : 1;
            v[step + 1] = lattice.vertex(place);
          }
          const bool odd = o >= 3;
          if (odd != mirrored) std::swap(v[2], v[3]);
          mesh.tetrahedra.push_back(v);
        }
      }
}

RawMesh box(const Numbers& numbers) {
  const auto size = numbers.size(3);
  const auto n = numbers.divisions(3, true);
  const Lattice lattice{{n[0], n[1], n[2]}};
  numbers.check_total(6 * lattice.cell_count(), lattice.vertex_count());
  RawMesh mesh;
  mesh.vertices.reserve(lattice.vertex_count());
  const Eigen::Array3d cells = Eigen::Array<std::int64_t, 3, 1>(n[0], n[1], n[2]).cast<double>();
  lattice.for_each_vertex(
      [&](const Eigen::Vector3d& i) { mesh.vertices.push_back(size.array() * (i.array() / cells - 0.5)); });
  mesh.tetrahedra.reserve(6 * lattice.cell_count());
  const auto lower_corner = [](const auto&) { return std::array<int, 3>{}; };
  add_kuhn_cells(lattice, lower_corner, mesh);
  return mesh;
}

RawMesh rectangle(const Numbers& numbers) {
  const auto size = numbers.size(2);
  const auto n = numbers.divisions(2, true);
  const Lattice lattice{{n[0], n[1], 0}};
  numbers.check_total(2 * double(n[0]) * double(n[1]), lattice.vertex_count());
  RawMesh mesh;
  const Eigen::Array3d cells = Eigen::Array<std::int64_t, 3, 1>(n[0], n[1], 1).cast<double>();
  lattice.for_each_vertex([&](const Eigen::Vector3d& i) {
    mesh.vertices.push_back(size.array() * (i.array() / cells - Eigen::Array3d(0.5, 0.5, 0)));
  });
  for (std::int64_t j = 0; j < n[1]; ++j)
    for (std::int64_t i = 0; i < n[0]; ++i) {
      const auto v00 = lattice.vertex({i, j, 0}), v10 = lattice.vertex({i + 1, j, 0});
      const auto v01 = lattice.vertex({i, j + 1, 0}), v11 = lattice.vertex({i + 1, j + 1, 0});
      mesh.triangles.push_back({v00, v10, v11});
      mesh.triangles.push_back({v00, v11, v01});
    }
  return mesh;
}

/// Ring k has 6 k vertices: the triangular lattice of a hexagon, pushed outwards to circles.
RawMesh disk_of(double radius, std::int64_t rings) {
  RawMesh mesh;
  mesh.vertices.push_back(Eigen::Vector3d::Zero());
  for (std::int64_t k = 1; k <= rings; ++k)
    for (std::int64_t j = 0; j < 6 * k; ++j) {
      const double angle = 2 * std::numbers::pi * double(j) / double(6 * k),
                   r = radius * double(k) / double(rings);
      mesh.vertices.push_back({r * std::cos(angle), r * std::sin(angle), 0});
    }
  const auto vertex = [](std::int64_t ring, std::int64_t j) -> std::int32_t {
    return ring == 0 ? 0 : 1 + 3 * ring * (ring - 1) + j % (6 * ring);
  };
  for (std::int64_t k = 1; k <= rings; ++k)
    for (std::int64_t sector = 0; sector < 6; ++sector)
      for (std::int64_t j = 0; j < k; ++j) {
        const auto outer = sector * k + j, inner = sector * (k - 1) + j;
        mesh.triangles.push_back({vertex(k - 1, inner), vertex(k, outer), vertex(k, outer + 1)});
        if (j + 1 < k)
          mesh.triangles.push_back({vertex(k - 1, inner), vertex(k, outer + 1), vertex(k - 1, inner + 1)});
      }
  return mesh;
}

RawMesh disk(const Generator& generator, const Numbers& numbers) {
  const double radius = numbers.positive(generator.radius, "radius");
  const auto n = numbers.divisions(1, false)[0];
  numbers.check_total(6 * double(n) * double(n), 3 * double(n) * double(n + 1) + 1);
  return disk_of(radius, n);
}

RawMesh cylinder(const Generator& generator, const Numbers& numbers) {
  const double radius = numbers.positive(generator.radius, "radius");
  const double height = numbers.positive(generator.height, "height");
  const auto n = numbers.divisions(2, false);
  numbers.check_total(18 * double(n[0]) * double(n[0]) * double(n[1]),
                      (3 * double(n[0]) * double(n[0] + 1) + 1) * double(n[1] + 1));
  const RawMesh base = disk_of(radius, n[0]);
  const std::int32_t stride = base.vertices.size();
  RawMesh mesh;
  for (std::int64_t layer = 0; layer <= n[1]; ++layer)
    for (const auto& p : base.vertices)
      mesh.vertices.push_back({p.x(), p.y(), height * (double(layer) / double(n[1]) - 0.5)});
  for (std::int32_t layer = 0; layer < n[1]; ++layer)
    for (auto t : base.triangles) {
      // the diagonal of each side face starts at its smaller vertex, as seen from both prisms
      std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
      std::array<std::int32_t, 3> a, b;
      for (std::size_t i = 0; i < 3; ++i) a[i] = t[i] + layer * stride, b[i] = a[i] + stride;
      if (t[1] < t[2]) {
        mesh.tetrahedra.push_back({a[0], a[1], a[2], b[2]});
        mesh.tetrahedra.push_back({a[0], a[1], b[2], b[1]});
      } else {
        mesh.tetrahedra.push_back({a[0], a[1], a[2], b[1]});
        mesh.tetrahedra.push_back({a[0], b[1], a[2], b[2]});
      }
      mesh.tetrahedra.push_back({a[0], b[1], b[2], b[0]});
    }
  return mesh;
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

RawMesh ball(const Generator& generator, const Numbers& numbers) {
  const double radius = numbers.positive(generator.radius, "radius");
  const auto n = numbers.divisions(1, false)[0];
  const Lattice lattice{{2 * n, 2 * n, 2 * n}};
  numbers.check_total(6 * lattice.cell_count(), lattice.vertex_count());
  RawMesh mesh;
  lattice.for_each_vertex([&](const Eigen::Vector3d& i) {
    mesh.vertices.push_back(radius * cube_to_ball(i / double(n) - Eigen::Vector3d::Ones()));
  });
  // the common edge of the six tetrahedra points outwards: no tetrahedron has two faces on the sphere
  const auto towards_centre = [&](const std::array<std::int64_t, 3>& cell) {
    return std::array<int, 3>{cell[0] < n, cell[1] < n, cell[2] < n};
  };
  add_kuhn_cells(lattice, towards_centre, mesh);
  return mesh;
}

} // namespace

int dimension(GeneratorShape shape) {
  return shape == GeneratorShape::rectangle || shape == GeneratorShape::disk ? 2 : 3;
}

RawMesh generate(const Generator& generator, const std::string& where) {
  const Numbers numbers(generator, where);
  const GeneratorShape shape = generator.shape;
  RawMesh mesh = shape == GeneratorShape::rectangle  ? rectangle(numbers)
                 : shape == GeneratorShape::ball     ? ball(generator, numbers)
                 : shape == GeneratorShape::disk     ? disk(generator, numbers)
                 : shape == GeneratorShape::cylinder ? cylinder(generator, numbers)
                                                     : box(numbers);
  mesh.tetrahedron_tags.assign(mesh.tetrahedra.size(), 0);
  mesh.triangle_tags.assign(mesh.triangles.size(), 0);
  return mesh;
}

} // namespace recoil::mesh
