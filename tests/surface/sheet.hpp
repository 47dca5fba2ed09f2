#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/surface/build.hpp"
#include "support/temporary_folder.hpp"

/// Thin sheets from files, on many ranks as `surface` and on every rank as they were read.
namespace recoil::surface {

template <int d>
struct Dimension {
  static constexpr int dim = d;
};

/// A numbering of 0 .. n - 1 without a pattern.
inline std::vector<int> shuffled(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  std::ranges::sort(order, {}, [](int i) { return std::sin(12.9898 * i + 1); });
  return order;
}

/// A strip of length 2 along x (and width 0.7 along y in 3D) of `n` edges per unit of length, with vertices
/// and triangles in no order; as an OBJ file.
inline std::string strip_obj(int dim, int n) {
  const int columns = 2 * n + 1, rows = dim == 2 ? 1 : (7 * n) / 10 + 1;
  const std::vector<int> order = shuffled(columns * rows);
  std::string vertices, primitives;
  std::vector<int> number(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int i = order[k] % columns, j = order[k] / columns;
    number[static_cast<std::size_t>(order[k])] = static_cast<int>(k) + 1;
    const double shift = 0.15 * std::sin(7.1 * i + 3.3 * j);
    vertices += "v " + std::to_string((i + shift) / n) + " " +
                std::to_string(dim == 2 ? 0.0 : (j - 0.7 * shift) / n) + " 0\n";
  }
  const auto name = [&](int i, int j) {
    return " " + std::to_string(number[static_cast<std::size_t>(j * columns + i)]);
  };
  for (int i = 0; i + 1 < columns; ++i) {
    if (dim == 2) primitives += "l" + name(i, 0) + name(i + 1, 0) + "\n";
    for (int j = 0; j + 1 < rows; ++j) {
      primitives += "f" + name(i, j) + name(i + 1, j) + name(i + 1, j + 1) + "\n";
      primitives += "f" + name(i, j) + name(i + 1, j + 1) + name(i, j + 1) + "\n";
    }
  }
  return vertices + primitives;
}

/// A sheet whose text every rank has read, too.
template <int dim>
struct Sheet {
  using Point = Eigen::Matrix<double, dim, 1>;
  using Facet = std::array<GlobalIndex, dim>;

  testing::TemporaryFolder folder;
  mesh::RawMesh raw;
  mesh::DistributedSurfaces<dim> share;

  Sheet(const parallel::Communicator& comm, const std::string& text) : folder(comm) {
    const auto path = folder / "sheet.obj";
    if (comm.rank() == 0) std::ofstream(path) << text;
    comm.barrier();
    raw = mesh::read_mesh(path);
    mesh::GeometrySpec spec;
    spec.name = "sheet";
    spec.mesh = path;
    share = read_sheets<dim>(comm, std::span(&spec, 1));
  }

  /// Facets as in the file.
  std::vector<Facet> facets() const {
    std::vector<Facet> result;
    if constexpr (dim == 2)
      for (const auto& edge : raw.edges) result.push_back({edge[0], edge[1]});
    else
      for (const auto& face : raw.triangles) result.push_back({face[0], face[1], face[2]});
    return result;
  }
  /// All edges, each once, ascending.
  std::vector<std::array<GlobalIndex, 2>> edges() const {
    std::vector<std::array<GlobalIndex, 2>> result;
    for (const Facet& facet : facets())
      for (std::size_t i = 0; i < dim; ++i)
        for (std::size_t j = i + 1; j < dim; ++j)
          result.push_back({std::min(facet[i], facet[j]), std::max(facet[i], facet[j])});
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }
  /// Positions of all vertices moved by `motion`, by their ids.
  std::vector<Point> moved(const auto& motion) const {
    std::vector<Point> result;
    for (const Eigen::Vector3d& p : raw.vertices)
      result.push_back(motion(Point(p.head<dim>()), static_cast<GlobalIndex>(result.size())));
    return result;
  }
};

/// The displacement that takes the vertices to `positions` of their ids.
template <int dim>
linalg::Vector displacement_to(const Surface<dim>& surface,
                               const std::vector<Eigen::Matrix<double, dim, 1>>& positions) {
  linalg::Vector u(surface.layout());
  auto values = u.write_local();
  for (LocalIndex v = 0; v < surface.num_vertices(); ++v) {
    const auto& vertex = surface.vertices()[static_cast<std::size_t>(v)];
    for (std::size_t i = 0; i < dim; ++i)
      values[static_cast<std::size_t>(surface.node(v)) * dim + i] =
          positions[static_cast<std::size_t>(vertex.id)][static_cast<Eigen::Index>(i)] - vertex.rest[i];
  }
  return u;
}

/// Numbers without a pattern, the same for an id on any rank.
template <int dim>
Eigen::Matrix<double, dim, 1> rough(GlobalIndex id, double seed) {
  Eigen::Matrix<double, dim, 1> result;
  for (int i = 0; i < dim; ++i)
    result[i] = std::sin(37.719 * static_cast<double>(id) + 61.137 * i + 1.7 * seed);
  return result;
}

/// Folds a strip at x = 1 around a cylinder, so that its upper half lies `gap` above the lower one, with
/// waves.
template <int dim>
Eigen::Matrix<double, dim, 1> folded(Eigen::Matrix<double, dim, 1> x, double gap) {
  const double radius = gap / 2, arc = std::numbers::pi * radius, s = x[0] - (1 - arc / 2);
  double& height = x[dim - 1];
  height = 0.004 * std::sin(9 * x[0] + 5 * x[1]);
  if (s > arc) {
    x[0] = 1 - arc / 2 - (s - arc);
    height += gap;
  } else if (s > 0) {
    x[0] = 1 - arc / 2 + (radius + height) * std::sin(s / radius);
    height = radius - (radius - height) * std::cos(s / radius);
  }
  return x;
}

} // namespace recoil::surface
