#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Name of a PETSc preconditioner for matrices on one rank: CHOLMOD's factorisation of the upper triangle.
///
/// PCCHOLESKY does the same, but a matrix that turns out to be indefinite leaves a copy of itself behind for
/// ever (PETSc 3.18: the error path of its CHOLMOD door frees nothing), and the symbolic factorisation is
/// lost with it. Here such a matrix is no error: ask is_indefinite() after the set-up, before any solve.
inline constexpr const char* upper_cholesky = "recoil_cholesky";

/// Makes the name known to PETSc. To be called once PETSc runs; again does no harm.
void register_upper_cholesky();

/// Whether the last set-up of the factorisation in `ksp`, in a telescope or not, met an indefinite matrix.
/// False where there is none on this rank. Not collective.
bool is_indefinite(KSP ksp);

} // namespace recoil::linalg
