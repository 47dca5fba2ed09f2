#pragma once

#include <cmath>
#include <limits>

namespace recoil::geometry {

/// A function of one variable with its first two derivatives.
struct BarrierValue {
  double value, first, second;
};

/// Logarithmic barrier b(y) = -(y - y_hat)^2 ln(y/y_hat) for 0 < y < y_hat, 0 from y_hat on (C^2 there), +inf
/// for y <= 0, with derivatives by y [Li et al. 2020, eq. 6].
///
/// Serves both forms of the contact energy: y = d^2, y_hat = dhat^2 (plain sum) and y = d, y_hat = dhat
/// (convergent). Every term is written free of cancellation, so value and derivatives are accurate to a few
/// ulps from y = 1e-100 y_hat up to the last number below y_hat.
inline BarrierValue log_barrier(double y, double y_hat) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (y >= y_hat) return {0.0, 0.0, 0.0};
  if (!(y > 0.0)) return {infinity, -infinity, infinity};
  const double depth = y_hat - y;
  // Near y_hat the ratio has lost the digits that the difference still has.
  const double log = y > 0.5 * y_hat ? std::log1p(-depth / y_hat) : std::log(y / y_hat);
  const double x = depth / y; // y_hat/y - 1
  return {-depth * depth * log, depth * (2.0 * log - x), x * (x + 4.0) - 2.0 * log};
}

} // namespace recoil::geometry
