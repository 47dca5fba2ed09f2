#pragma once

#include "recoil/base/types.hpp"
#include "recoil/linalg/vector.hpp"

namespace recoil::stepping {

/// Displacement [m] and velocity [m/s] at the end of one internal step, ghosts included. `id` is the running
/// number of the internal state: 0 for the initial one, then one more for each accepted step or sub-step.
struct State {
  GlobalIndex id = 0;
  linalg::Vector u, v;
};

} // namespace recoil::stepping
