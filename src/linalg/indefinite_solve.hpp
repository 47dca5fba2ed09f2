#pragma once

#include <string>

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Solves A x = b for a symmetric indefinite A by GMRES on a sparse LDL' factorisation, which without
/// pivoting is inexact near singular leading blocks. Returns PETSc's error code, the same on every rank only
/// after agreement; `reason` and `iterations` are those of GMRES. Collective.
PetscErrorCode solve_indefinite(const parallel::Communicator& comm, Mat A, const std::string& prefix,
                                double relative_tolerance, Vec b, Vec x, KSPConvergedReason& reason,
                                int& iterations);

} // namespace recoil::linalg
