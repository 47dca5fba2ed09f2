// Uses something compiled from base and the public data of mesh.
#include <cstdio>

#include "recoil/base/expression.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

int main() {
  const recoil::Expression expression("2 * x + y");
  recoil::mesh::SimplexMesh mesh;
  mesh.vertices.emplace_back(1.0, 2.0, 0.0);
  const auto& vertex = mesh.vertices.front();
  const double value = expression({.x = vertex.x(), .y = vertex.y(), .z = 0, .t = 0});
  std::printf("2 * 1 + 2 = %g\n", value);
  return value == 4.0 ? 0 : 1;
}
