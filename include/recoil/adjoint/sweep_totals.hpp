#pragma once

#include "recoil/base/types.hpp"

namespace recoil::adjoint {

struct SweepOptions {
  double relative_tolerance = 1e-10; ///< of the linear solves
};

/// What the linear solves of a sweep have come to, one per step and objective or direction.
struct SolveTotals {
  GlobalIndex steps = 0; ///< linearised
  GlobalIndex solves = 0;
  GlobalIndex linear_iterations = 0;
  /// |b - A x| / |b| over all solves, failed ones included.
  double largest_relative_residual = 0;
};

} // namespace recoil::adjoint
