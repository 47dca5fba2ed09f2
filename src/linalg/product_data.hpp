#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Has GAMG free, level by level, what the triple product of the level keeps for its renewal; where coarse
/// operators are renewed after all, the first time makes these products from their patterns on. On ranks that
/// share a matrix the data are three times what the coarse matrices take. Other preconditioners stay as they
/// are. Before the set-up; not collective.
PetscErrorCode keep_no_product_data(PC preconditioner);

} // namespace recoil::linalg
