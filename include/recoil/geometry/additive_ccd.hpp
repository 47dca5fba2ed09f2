#pragma once

#include <limits>

#include "recoil/geometry/stencil.hpp"

namespace recoil::geometry {

/// Time in [0, max_time] before which the primitives, moving linearly from `start` by `displacement` per unit
/// of time, keep a gap beyond `min_separation`: a fraction `gap_fraction` (eta = 0.1) of their gap at the
/// start, at most `largest_gap`; max_time if they never come that close or do not move relative to each
/// other. 0 if they move and their distance at the start exceeds `min_separation` by no more than rounding.
///
/// Conservative: never later than the true time of impact. A bound of the rounding errors is taken off every
/// distance; it grows with the extent of the stencil and of the relative motion, not with the coordinates.
/// (Rounding of the positions that the caller moves by the time is not in it: an ulp of 1e3 is 1e-13.)
/// Additive CCD [Li et al. 2021] whose steps are the larger of two proven ones: distance over the greatest
/// relative speed of two points, and the time until the slab between the primitives closes along the present
/// direction of separation, which lets close primitives slide past each other in few steps. Returns a safe
/// time after a bounded number of steps. Not finite input gives 0.
/// @param kind in 2D only vertex_vertex and vertex_edge.
/// @param min_separation distance >= 0 that must never be reached.
/// @param largest_gap lets primitives that are far apart come close at once and not by a factor a call.
template <int dim>
double additive_ccd(StencilKind kind, const StencilPoints<dim>& start, const StencilPoints<dim>& displacement,
                    double min_separation = 0, double max_time = 1,
                    double largest_gap = std::numeric_limits<double>::infinity());

} // namespace recoil::geometry
