#pragma once

#include <Eigen/Geometry>

#include "recoil/pieces/smoothing.hpp"

namespace recoil::pieces {

/// Area of a triangle [m^2] or length of an edge [m] of a surface, by its vertices.
template <int dim>
double facet_size(const FacetMesh<dim>& surface, const std::array<std::int32_t, dim>& facet) {
  const Point<dim> edge = surface.vertices[facet[1]] - surface.vertices[facet[0]];
  if constexpr (dim == 2)
    return edge.norm();
  else
    return edge.cross(surface.vertices[facet[2]] - surface.vertices[facet[0]]).norm() / 2;
}

/// Volume, centre and moments of inertia of a homogeneous body of density 1.
template <int dim>
struct Moments {
  double volume = 0;                      ///< [m^dim]
  Point<dim> centre = Point<dim>::Zero(); ///< of mass [m]
  Eigen::Matrix<double, dim, dim> second =
      Eigen::Matrix<double, dim, dim>::Zero(); ///< int (x - centre) (x - centre)' [m^(dim + 2)]

  /// trace(second) I - second: the inertia about the centre (3D); in 2D the polar one is trace(second).
  Eigen::Matrix<double, dim, dim> inertia() const {
    return second.trace() * Eigen::Matrix<double, dim, dim>::Identity() - second;
  }
};

/// Exact integrals over the body of a closed, oriented surface: sums over the signed simplices between its
/// facets and the middle of its box.
template <int dim>
Moments<dim> moments(const FacetMesh<dim>& surface);

} // namespace recoil::pieces
