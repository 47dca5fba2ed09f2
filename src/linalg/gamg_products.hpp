#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Has GAMG form the operators P'A P of its levels by BlockTripleProduct where that takes them, by PETSc's
/// products elsewhere. Other preconditioners stay as they are. Before the set-up; not collective.
PetscErrorCode use_block_products(PC preconditioner);

/// Whether `matrix` was formed by BlockTripleProduct. Not collective.
bool is_block_product(Mat matrix);

} // namespace recoil::linalg
