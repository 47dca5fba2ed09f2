#pragma once

#include "recoil/app/run/solver_kind.hpp"

namespace recoil::app {

/// Bodies of spheres that are bonded to their neighbours (docs/bonded_particles.md).
extern const SolverKind bonded_particles;

} // namespace recoil::app
