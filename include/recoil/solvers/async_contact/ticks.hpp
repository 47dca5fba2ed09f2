#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

/// Integer time: events compare and repeat exactly, whatever the order in which steps are added.
namespace recoil::solvers::async_contact {

/// Time in ticks since the start of the run.
using Tick = std::int64_t;
/// Later than every event.
inline constexpr Tick never = std::numeric_limits<Tick>::max();

/// Length of a tick [s], a power of two, so that times convert without rounding up to 2^53 ticks.
struct TickLength {
  int exponent = -40;

  double seconds() const { return power_of_two(exponent); }
  double to_seconds(Tick ticks) const { return static_cast<double>(ticks) * seconds(); }
  /// Largest number of ticks not longer than `time` >= 0 [s]; `never` if that exceeds 2^62.
  Tick floor(double time) const {
    const double ticks = time * power_of_two(-exponent);
    return ticks < 0x1p62 ? static_cast<Tick>(ticks) : never;
  }

private:
  static double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  }
};

/// The times phase + k step at which a force is integrated, k = 0, 1, ..; 0 <= phase < step.
struct Clock {
  Tick phase, step;

  /// First time of this clock after `t`.
  Tick first_after(Tick t) const { return t < phase ? phase : phase + ((t - phase) / step + 1) * step; }
};

} // namespace recoil::solvers::async_contact
