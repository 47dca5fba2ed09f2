#pragma once

#include <Eigen/Core>

#include "recoil/geometry/stencil.hpp"

namespace recoil::geometry {

/// Closest points of the two primitives of a stencil, as affine weights: c = sum_i weights[i] z_i joins them
/// (it points from the second primitive to the first). With the parameters xi of the closest features,
/// c(xi) = sum_i Gamma_i(xi) z_i, and xi* minimises |c|; the weights sum to zero.
template <int dim>
struct ClosestPoints {
  Eigen::Vector4d weights; ///< Gamma(xi*), zero for vertices that are no part of the closest features
  Eigen::Matrix<double, 4, 2> tangents;     ///< column r = dGamma/dxi_r of the r-th free parameter, else zero
  int num_free;                             ///< 0, 1 or 2: dimension of the closest features together
  Eigen::Matrix<double, dim, 1> separation; ///< c
  double distance_squared;                  ///< c.c
};

/// Classifies the closest features (vertices, edges or face interiors) and solves for the closest points.
///
/// Parameters come from an orthogonal factorisation of the tangents, not from normal equations, so the
/// distance is accurate to a few units of rounding of the stencil's extent (not of its coordinates) for
/// slivers and nearly parallel edges too. Each answer is checked against the optimality conditions; an answer
/// that fails them (degenerate input) is replaced by the best of all sub-features. Finite for finite input,
/// and always the distance of two actual points of the primitives. Parallel edges give a vertex-edge or a
/// vertex-vertex answer.
/// @param kind in 2D only vertex_vertex and vertex_edge.
template <int dim>
ClosestPoints<dim> closest_points(StencilKind kind, const StencilPoints<dim>& points);

/// The member distance_squared of closest_points, bit for bit.
template <int dim>
double distance_squared(StencilKind kind, const StencilPoints<dim>& points);

/// d(c.c)/dz = 2 Gamma^T c.
template <int dim>
StencilVector<dim> distance_squared_gradient(const ClosestPoints<dim>& closest);

/// Hessian of c.c at fixed closest features: 2 (Gamma^T Gamma - B (C^T C)^-1 B^T) with C_r = Gamma_r z and
/// B_r = Gamma_r^T c + Gamma^T C_r, from differentiating the optimality conditions C^T c = 0. Exact; it jumps
/// where the closest features change. Not positive semi-definite in general.
/// @param points those that `closest` was computed from.
template <int dim>
StencilMatrix<dim> distance_squared_hessian(const ClosestPoints<dim>& closest,
                                            const StencilPoints<dim>& points);

/// How the closest points slide along their features: row r = dxi_r/dz = -((C^T C)^-1 B^T)_r, zero for
/// r >= num_free. The weights change by d weights = sum_r tangents_r dxi_r.
template <int dim>
Eigen::Matrix<double, 2, 4 * dim> closest_parameter_derivatives(const ClosestPoints<dim>& closest,
                                                                const StencilPoints<dim>& points);

} // namespace recoil::geometry
