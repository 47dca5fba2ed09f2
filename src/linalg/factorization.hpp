#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// The largest of the ranks' error codes, so that all go the same way. Collective.
PetscErrorCode agree(const parallel::Communicator& comm, PetscErrorCode code);

/// Passes the error code of a collective call of PETSc on. Not collective. @throws std::bad_alloc where
/// memory ran out and other ranks of `object` wait inside that call, so that an agreement would wait for them
/// for ever.
PetscErrorCode alone_without_memory(PetscObject object, PetscErrorCode code);

/// Sets up `ksp` with all that its preconditioner factors, on rank 0, in blocks or in a telescope. PETSc
/// would factor in the first solve, where a failure on one rank leaves the others waiting for ever: agree()
/// on the error code, which may differ between ranks, before any solve. Collective.
PetscErrorCode set_up_factorization(KSP ksp);

/// Name of a PETSc preconditioner: CHOLMOD's factorisation of the upper triangle of an AIJ matrix. Rank 0
/// does it for all: a factor on every rank would cost its memory and its bandwidth as often. What goes there
/// is the values of the upper triangle alone, unless the pattern has changed.
///
/// PCCHOLESKY does the same on one rank, but a matrix that turns out to be indefinite leaves a copy of itself
/// behind for ever (PETSc 3.18: the error path of its CHOLMOD door frees nothing), and the symbolic
/// factorisation is lost with it. Here such a matrix is no error: ask is_indefinite() after the set-up,
/// before any solve.
inline constexpr const char* upper_cholesky = "recoil_cholesky";

/// Makes the name known to PETSc. To be called once PETSc runs; again does no harm.
void register_upper_cholesky();

/// Whether the last set-up of the factorisation in `ksp`, in a telescope or not, met an indefinite matrix.
/// False on ranks that do not factor. Not collective.
bool is_indefinite(KSP ksp);

} // namespace recoil::linalg
