#pragma once

#include "recoil/app/run/solver_kind.hpp"

namespace recoil::discs {

/// Scenes of discs.
extern const app::SolverKind disc_kind;

} // namespace recoil::discs
