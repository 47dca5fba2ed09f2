#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::test {

/// Boxes (3D) or rectangles (2D) side by side along x, one body each, of unit size with `n` divisions per
/// side. Surface ids by side: 1 -x, 2 -y, 3 +x, 4 +y, 5 -z, 6 +z. Serial.
inline mesh::SimplexMesh box_mesh(int dim, int n, int bodies = 1) {
  std::vector<mesh::GeometrySpec> specs;
  for (int body = 0; body < bodies; ++body) {
    mesh::GeometrySpec spec;
    spec.name = "body" + std::to_string(body);
    mesh::Generator generator;
    generator.shape = dim == 2 ? mesh::GeneratorShape::rectangle : mesh::GeneratorShape::box;
    generator.size.assign(static_cast<std::size_t>(dim), 1.0);
    generator.divisions.assign(static_cast<std::size_t>(dim), n);
    spec.generator = generator;
    spec.transformation.translation = Eigen::Vector3d(1.5 * body, 0, 0);
    for (int side = 1; side <= 2 * dim; ++side) {
      mesh::Selection selection;
      selection.id = side;
      // Sides in the order -x -y +x +y -z +z, as axis selections at the faces of the box.
      const std::array<int, 7> axis{0, -1, -2, 1, 2, -3, 3};
      const int a = axis[static_cast<std::size_t>(side)];
      const double centre = std::abs(a) == 1 ? 1.5 * body : 0.0;
      selection.shape = mesh::AxisSelection{a, centre + (a > 0 ? 0.5 : -0.5)};
      spec.surface_selection.push_back(selection);
    }
    specs.push_back(spec);
  }
  return mesh::assemble_geometry(specs, dim).deformable;
}

/// The same mesh with other vertex numbers.
inline void shuffle_vertices(mesh::SimplexMesh& mesh, unsigned seed) {
  std::vector<std::int32_t> number(mesh.vertices.size());
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), std::mt19937(seed));
  auto vertices = mesh.vertices;
  auto point_ids = mesh.vertex_point_id;
  for (std::size_t i = 0; i < number.size(); ++i) {
    vertices[static_cast<std::size_t>(number[i])] = mesh.vertices[i];
    point_ids[static_cast<std::size_t>(number[i])] = mesh.vertex_point_id[i];
  }
  mesh.vertices = vertices;
  mesh.vertex_point_id = point_ids;
  for (auto& cell : mesh.cells)
    for (int i = 0; i <= mesh.dim; ++i) {
      auto& vertex = cell[static_cast<std::size_t>(i)];
      vertex = number[static_cast<std::size_t>(vertex)];
    }
}

} // namespace recoil::test
