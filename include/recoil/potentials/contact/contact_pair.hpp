#pragma once

#include <array>

#include <Eigen/Core>

#include "recoil/base/types.hpp"
#include "recoil/geometry/closest_points.hpp"
#include "recoil/geometry/edge_edge_mollifier.hpp"

namespace recoil::potentials {

/// A half-space obstacle: solid on the side against `normal` (unit length), fixed.
template <int dim>
struct Plane {
  Eigen::Matrix<double, dim, 1> point, normal;
  std::int32_t body; ///< number after those of bodies and obstacles
};

/// Two primitives closer than dhat in some configuration.
template <int dim>
struct ContactPair {
  geometry::StencilKind kind;
  int num_vertices;                   ///< 1 for a vertex against a plane
  std::array<LocalIndex, 4> vertices; ///< ContactVertices numbers
  std::array<std::int32_t, 2> bodies;
  geometry::StencilPoints<dim> points; ///< positions [m]
  geometry::ClosestPoints<dim> closest;
  double weight;                        ///< area weight [m^(dim-1)]; 1 in the plain sum
  geometry::MollifierScalars mollifier; ///< of edge-edge pairs; 1 else
};

} // namespace recoil::potentials
