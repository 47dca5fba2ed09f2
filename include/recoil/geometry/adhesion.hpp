#pragma once

#include "recoil/geometry/barrier.hpp"

namespace recoil::geometry {

/// Adhesion A(y) of two surfaces at y > 0 with derivatives by y [Fang et al. 2023, section 4.1], scaled so
/// that its largest slope is 1, at the peak p:
///
///     A = y^2 / (2 p) - r / 2             for y < p
///     A = -(r - y)^2 / (2 (r - p))        for p <= y < r
///     A = 0                               from the reach r on
///
/// C^1; the second derivative jumps from 1/p to -1/(r - p) at the peak, and to 0 at the reach. Separating the
/// surfaces from y = 0 takes r/2. y is a distance or its square, with peak and reach of the same kind.
inline BarrierValue adhesion(double y, double peak, double reach) {
  if (y >= reach) return {0, 0, 0};
  if (y < peak) return {y * y / (2 * peak) - reach / 2, y / peak, 1 / peak};
  const double left = reach - y, width = reach - peak;
  return {-left * left / (2 * width), left / width, -1 / width};
}

} // namespace recoil::geometry
