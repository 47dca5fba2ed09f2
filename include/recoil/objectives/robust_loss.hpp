#pragma once

#include <cmath>

namespace recoil::objectives {

/// What a misfit r of a datum, in its standard deviations, adds to an objective in place of r^2: rho(r^2),
/// which is r^2 near 0 and grows no faster than |r| (`huber`, `soft_l1`) or log r^2 (`cauchy`), so that a few
/// wrong data no longer decide a fit. With the width k and s = r^2
///
///     huber:   s where |r| <= k, else 2 k |r| - k^2                  [Huber 1964, Ann. Math. Stat. 35, 73]
///     soft_l1: 2 k^2 (sqrt(1 + s / k^2) - 1)                        [Charbonnier et al. 1997, IEEE TIP 6]
///     cauchy:  k^2 log(1 + s / k^2)
///
/// Objectives stay sums of squares: the residual is t(r) = sign(r) sqrt(rho(r^2)), smooth through 0, and the
/// Jacobian of Gauss-Newton takes rows times dt/dr. Its square is about half the weight rho'(s) of
/// iteratively reweighted least squares where |r| >> k, between that and the curvature of rho(r^2) itself.
struct RobustLoss {
  enum class Type { huber, soft_l1, cauchy };
  Type type = Type::huber;
  double width = 1.345;

  /// The width with which the fit of noise alone is 95 % as exact as least squares (of `soft_l1`, too).
  static constexpr double usual_width(Type type) { return type == Type::cauchy ? 2.385 : 1.345; }

  /// t(r).
  double residual(double r) const;
  /// dt/dr, which is 1 at 0.
  double slope(double r) const;
  /// The r of a t, the inverse of residual().
  double misfit(double t) const;
};

} // namespace recoil::objectives
