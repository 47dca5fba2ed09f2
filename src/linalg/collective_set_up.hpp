#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// The largest of the ranks' error codes, so that all go the same way. Collective.
PetscErrorCode agree(const parallel::Communicator& comm, PetscErrorCode code);

/// Passes the error code of a collective call of PETSc on. Not collective. @throws std::bad_alloc where
/// memory ran out and other ranks of `object` wait inside that call, so that an agreement would wait for them
/// for ever.
PetscErrorCode alone_without_memory(PetscObject object, PetscErrorCode code);

/// The solver whose preconditioner factors: `ksp`, or the one in its telescope, null on ranks outside that.
/// Not collective.
PetscErrorCode get_factoring_solver(KSP ksp, KSP& inner);

/// Sets up `ksp` with all that its preconditioner factors, in blocks or in a telescope. PETSc would factor
/// in the first solve, where a failure on one rank leaves the others waiting for ever: agree() on the error
/// code, which may differ between ranks, before any solve. Collective.
PetscErrorCode set_up_factorization(KSP ksp);

} // namespace recoil::linalg
