#pragma once

#include "recoil/geometry/stencil.hpp"

namespace recoil::geometry {

// Mollifier of nearly parallel edge pairs [Li et al. 2020, section 4.4], 3D only:
// m = (2 - q) q for q = x/eps < 1 and 1 otherwise, with x = |(a1 - a0) x (b1 - b0)|^2 of the current points
// and eps = 1e-3 |A1 - A0|^2 |B1 - B0|^2 of the rest points. C^1 in x. A rest edge of length zero (eps = 0)
// switches it off: m = 1.

/// eps of the rest points, in m^4.
double edge_edge_mollifier_eps(const StencilPoints<3>& rest);

/// d eps/dX by the four rest points.
StencilVector<3> edge_edge_mollifier_eps_gradient(const StencilPoints<3>& rest);

/// Value alone, the cheap path.
struct MollifierValue {
  double value;
  bool is_mollified; ///< q < 1
};
MollifierValue edge_edge_mollifier(const StencilPoints<3>& points, double eps);

/// m as a function of x and eps with the derivatives that forces, Hessians and shape derivatives need.
struct MollifierScalars {
  double value;
  double first, second; ///< dm/dx, d2m/dx2
  double value_by_eps;  ///< dm/d eps
  double first_by_eps;  ///< d(dm/dx)/d eps
  bool is_mollified;    ///< q < 1; otherwise all derivatives are zero
};
MollifierScalars edge_edge_mollifier_scalars(double cross_squared, double eps);

/// x = |(a1 - a0) x (b1 - b0)|^2 and its derivatives by the four points.
double edge_cross_squared(const StencilPoints<3>& points);
StencilVector<3> edge_cross_squared_gradient(const StencilPoints<3>& points);
StencilMatrix<3> edge_cross_squared_hessian(const StencilPoints<3>& points);

} // namespace recoil::geometry
