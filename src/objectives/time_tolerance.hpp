#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace recoil::objectives {

/// Times that are the same in decimals differ by less than this [s]: those of states are sums of steps,
/// observed and chosen ones are written by people. `times` ascend.
inline double time_tolerance(std::span<const double> times) {
  return 1e-9 * std::max(std::abs(times.front()), std::abs(times.back()));
}

} // namespace recoil::objectives
