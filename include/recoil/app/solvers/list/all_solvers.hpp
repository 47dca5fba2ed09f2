#pragma once

#include "recoil/app/run/solver_kind.hpp"

namespace recoil::app {

/// The solvers of recoil, finite elements first.
const SolverKinds& all_solvers();

} // namespace recoil::app
