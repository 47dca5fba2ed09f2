#pragma once

#include "recoil/geometry/stencil.hpp"

namespace recoil::test {

/// First time in [0, 1] at which the moving primitives touch, from the roots of the cubic (2D: quadratic) at
/// which all points become coplanar (collinear), in extended precision; 2 if there is none. For queries in
/// general position: that polynomial must not vanish identically or have double roots.
template <int dim>
double first_impact(geometry::StencilKind kind, const geometry::StencilPoints<dim>& start,
                    const geometry::StencilPoints<dim>& displacement);

/// The same for any query, slowly: advances by the distance over the greatest relative speed until less than
/// `resolution` of the first distance is left. Never later than the true time. NaN if undecided after
/// `max_steps`; 2 if nothing moves.
template <int dim>
double marched_impact(geometry::StencilKind kind, const geometry::StencilPoints<dim>& start,
                      const geometry::StencilPoints<dim>& displacement, double resolution, int max_steps);

/// Distance at a time of the motion, in quadruple precision.
template <int dim>
double distance_at(geometry::StencilKind kind, const geometry::StencilPoints<dim>& start,
                   const geometry::StencilPoints<dim>& displacement, double time);

} // namespace recoil::test
