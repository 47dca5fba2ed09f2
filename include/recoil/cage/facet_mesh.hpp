#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

/// Solids in cages of tetrahedra: from any surface to simplices around it. Nothing here is collective; a
/// caller on several ranks does it on one and broadcasts what comes out.
namespace recoil::cage {

template <int dim>
using Point = Eigen::Matrix<double, dim, 1>;

/// Triangles (3D) or edges (2D) of a surface. Closed surfaces have their normals outwards: triangles turn
/// counter-clockwise seen from outside, edges have the body to their left.
template <int dim>
struct FacetMesh {
  std::vector<Point<dim>> vertices;                  ///< [m]
  std::vector<std::array<std::int32_t, dim>> facets; ///< vertices of each
};

/// Tetrahedra (3D) or triangles (2D), positively oriented.
template <int dim>
struct CellMesh {
  std::vector<Point<dim>> vertices; ///< [m]
  std::vector<std::array<std::int32_t, dim + 1>> cells;
};

} // namespace recoil::cage
