#pragma once

#include "recoil/app/run/solver_kind.hpp"

namespace recoil::app {

/// Finite elements: statics, quasi-statics and dynamics with contact.
extern const SolverKind elastodynamics;

} // namespace recoil::app
