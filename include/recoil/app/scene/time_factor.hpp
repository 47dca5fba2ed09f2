#pragma once

#include <vector>

namespace recoil::app {

/// How a boundary value grows with time (`interpolation`): a factor f(t) on the value.
struct TimeFactor {
  enum class Kind {
    none,               ///< 1
    linear,             ///< t
    linear_ramp,        ///< min(max(t - from, 0), to - from)
    piecewise_constant, ///< value of the last point at or before t
    piecewise_linear    ///< linear between points, constant outside
  };
  Kind kind = Kind::none;
  double from = 0, to = 0;            ///< [s], linear_ramp
  std::vector<double> points, values; ///< [s], [1]; piecewise forms, points ascending

  double operator()(double t) const;
};

/// Factor for component c of a list that is empty (1), has one entry (for all components) or one per
/// component.
double time_factor(const std::vector<TimeFactor>& factors, int c, double t);

} // namespace recoil::app
