#pragma once

#include <vector>

#include "recoil/linalg/block_matrix.hpp"

namespace recoil::linalg {

/// Eigenvalues, ascending, and eigenvectors x_i with x_i' B x_j = 1 for i = j, else 0; ghosts are current.
struct GeneralizedEigenpairs {
  std::vector<double> values;
  std::vector<Vector> vectors;
};

/// The `count` smallest eigenpairs of A x = lambda B x, A symmetric positive semidefinite and B symmetric
/// positive definite with the same layout: Krylov-Schur on (A + shift B)^-1 B in the inner product of B
/// (SLEPc; solves by a sparse Cholesky factorisation, for more than 200000 rows by conjugate gradients with
/// multigrid). Residuals |A x - lambda B x| are below 1e-8 (lambda + shift) |B x|, about. PETSc options with
/// the prefix "recoil_modes_" may choose other settings.
/// @param shift > 0, in the unit of lambda: well below the smallest eigenvalue that is not zero, and not so
/// small that A + shift B is singular in double precision. The result has fewer pairs where the matrix has
/// fewer rows, or where a thousand restarts do not suffice. The signs of the vectors, and their directions
/// within an eigenspace, are arbitrary. Collective.
/// @throws LibraryError where SLEPc or a factorisation fails.
GeneralizedEigenpairs smallest_eigenpairs(const BlockMatrix& A, const BlockMatrix& B, int count,
                                          double shift);

} // namespace recoil::linalg
