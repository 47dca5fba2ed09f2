#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Has GAMG form the operators P'A P of its levels by BlockTripleProduct where that takes them, by PETSc's
/// products elsewhere. Other preconditioners stay as they are. Before the set-up; not collective.
/// @param is_lasting has GAMG free, level by level, what PETSc's products keep for their renewal, on ranks
/// that share a matrix three times what the coarse matrices take; where coarse operators are renewed after
/// all, the first time makes these products from their patterns on
PetscErrorCode use_block_products(PC preconditioner, bool is_lasting);

} // namespace recoil::linalg
