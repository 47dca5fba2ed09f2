#pragma once

#include "recoil/app/run/solver_kind.hpp"

namespace recoil::discs {

/// The discs as a solver that scenes can name.
extern const app::SolverKind disc_kind;

} // namespace recoil::discs
