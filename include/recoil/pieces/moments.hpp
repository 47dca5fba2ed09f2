#pragma once

#include <Eigen/Geometry>

#include "recoil/pieces/smoothing.hpp"

namespace recoil::pieces {

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
