#pragma once

#include <cstdint>

#include <Eigen/Core>

namespace recoil::geometry {

/// The two primitives whose distance a contact term measures.
enum class StencilKind : std::uint8_t { vertex_vertex, vertex_edge, vertex_face, edge_edge };

/// Number of points of a stencil: 2, 3, 4, 4.
constexpr int num_points(StencilKind kind) {
  switch (kind) {
  case StencilKind::vertex_vertex:
    return 2;
  case StencilKind::vertex_edge:
    return 3;
  case StencilKind::vertex_face:
  case StencilKind::edge_edge:
    break;
  }
  return 4;
}

/// Number of points that belong to the first primitive; they come first.
constexpr int num_first_points(StencilKind kind) { return kind == StencilKind::edge_edge ? 2 : 1; }

/// Points of a stencil in the order (p0,p1) | (p,e0,e1) | (p,t0,t1,t2) | (a0,a1,b0,b1); unused columns are
/// ignored and may hold anything.
template <int dim>
using StencilPoints = Eigen::Matrix<double, dim, 4>;
/// dim entries per point.
template <int dim>
using StencilVector = Eigen::Matrix<double, 4 * dim, 1>;
template <int dim>
using StencilMatrix = Eigen::Matrix<double, 4 * dim, 4 * dim>;

} // namespace recoil::geometry
