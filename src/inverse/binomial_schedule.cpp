#include "recoil/inverse/binomial_schedule.hpp"

#include <algorithm>
#include <limits>

#include "recoil/base/error.hpp"

namespace recoil::inverse {

namespace {

/// binomial(a + b, b), or the largest number where it is larger; 0 for b < 0.
GlobalIndex paths(GlobalIndex a, GlobalIndex b) {
  constexpr GlobalIndex largest = std::numeric_limits<GlobalIndex>::max();
  if (b < 0) return 0;
  GlobalIndex result = 1;
  for (GlobalIndex i = 1; i <= std::min(a, b); ++i) {
    if (result > largest / (std::max(a, b) + i)) return largest;
    result = result * (std::max(a, b) + i) / i;
  }
  return result;
}

} // namespace

GlobalIndex binomial_split(GlobalIndex steps, GlobalIndex snapshots) {
  RECOIL_ASSERT(steps >= 2 && snapshots >= 1);
  // In the paper's count the first state is a snapshot too, and the last step is one to be reversed.
  const GlobalIndex held = snapshots + 1, length = steps + 1;
  GlobalIndex repetitions = 1;
  while (paths(held, repetitions) < length) ++repetitions;
  const GlobalIndex split = std::min(paths(held, repetitions - 1), length - paths(held - 1, repetitions - 1));
  return std::clamp<GlobalIndex>(split, 1, steps - 1);
}

} // namespace recoil::inverse
