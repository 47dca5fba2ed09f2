#pragma once

#include "recoil/base/types.hpp"

namespace recoil::adjoint {

struct SweepOptions {
  double relative_tolerance = 1e-10; ///< of the linear solves
};

/// What the linear solves of a sweep have come to, one per step and objective or direction.
struct SolveTotals {
  GlobalIndex steps = 0, solves = 0, linear_iterations = 0;
  double largest_relative_residual = 0;
};

} // namespace recoil::adjoint
