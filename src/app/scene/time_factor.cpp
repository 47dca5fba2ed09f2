#include "recoil/app/scene/time_factor.hpp"

#include <algorithm>

namespace recoil::app {

double TimeFactor::operator()(double t) const {
  switch (kind) {
  case Kind::none:
    return 1;
  case Kind::linear:
    return t;
  case Kind::linear_ramp:
    return std::min(std::max(t - from, 0.0), to - from);
  case Kind::piecewise_constant:
  case Kind::piecewise_linear:
    break;
  }
  if (t < points.front()) return values.front();
  if (t >= points.back()) return values.back();
  const auto next =
      static_cast<std::size_t>(std::upper_bound(points.begin(), points.end(), t) - points.begin());
  const auto last = next - 1;
  if (kind == Kind::piecewise_constant) return values[last];
  const double part = (t - points[last]) / (points[next] - points[last]);
  return values[last] + part * (values[next] - values[last]);
}

double time_factor(const std::vector<TimeFactor>& factors, int c, double t) {
  if (factors.empty()) return 1;
  return factors.size() == 1 ? factors.front()(t) : factors[c](t);
}

} // namespace recoil::app
