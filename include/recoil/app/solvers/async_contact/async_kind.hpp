#pragma once

#include "recoil/app/run/solver_kind.hpp"

namespace recoil::app {

/// Thin shells and spheres in asynchronous contact (docs/async_contact.md).
extern const SolverKind async_contact;

} // namespace recoil::app
