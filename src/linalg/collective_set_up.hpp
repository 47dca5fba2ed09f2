#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// The largest of the ranks' error codes, so that all go the same way. Collective.
PetscErrorCode agree(const parallel::Communicator& comm, PetscErrorCode code);

/// The solver whose preconditioner factors: `ksp`, or the one in its telescope, null on ranks outside that.
/// Not collective.
PetscErrorCode get_factoring_solver(KSP ksp, KSP& inner);

/// Sets up `ksp` with all that its preconditioner factors, in blocks or in a telescope. PETSc would factor
/// in the first solve, where a failure on one rank leaves the others waiting for ever: agree() on the error
/// code, which may differ between ranks, before any solve. Collective.
PetscErrorCode set_up_factorization(KSP ksp);

} // namespace recoil::linalg
