#include "app/simulation/require_finite.hpp"

#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::app {

double require_finite(double value, const std::string& where, const char* what, std::optional<int> component,
                      const ExpressionPoint& point) {
  if (std::isfinite(value)) return value;
  const std::string along = component ? fmt::format(" along {}", "xyz"[*component]) : std::string();
  throw InputError(where, fmt::format("the {}{} is {} at ({:g}, {:g}, {:g}), t = {:g}; write a formula that "
                                      "has a finite value at every point and time of the scene",
                                      what, along, value, point.x, point.y, point.z, point.t));
}

} // namespace recoil::app
