#include "recoil/app/run/finite_values.hpp"

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

void require_finite_rows(std::span<const double> values, int columns, GlobalIndex first_row,
                         const std::string& where, const std::filesystem::path& file,
                         const std::string& array) {
  for (GlobalIndex i = 0; i < std::ssize(values); ++i)
    if (!std::isfinite(values[i]))
      throw InputError(
          where,
          fmt::format("row {} (counted from 0) of the array '{}' of {} is {}; write a finite number there",
                      first_row + i / columns, array, file.string(), values[i]));
}

} // namespace recoil::app
