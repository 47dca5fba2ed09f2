#include "recoil/mesh/input/body_mesh.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "mesh/input/describe.hpp"
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
    corners += (i ? ", " : "") + std::to_string(v) + " at " + describe(p, mesh.dim);
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

} // namespace

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

} // namespace recoil::mesh
