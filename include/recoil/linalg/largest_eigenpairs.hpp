#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace recoil::linalg {

/// Eigenvalues, descending, and eigenvectors of length 1.
struct Eigenpairs {
  std::vector<double> values;
  std::vector<std::vector<double>> vectors;
  bool is_complete = false; ///< all eigenvalues that were asked for are there
};

/// The eigenpairs of a symmetric, positive semidefinite A with eigenvalues of at least `threshold`, the
/// largest first and no more than `most`, by its products alone: Krylov-Schur with thick restarts (SLEPc's
/// EPSKRYLOVSCHUR, which for symmetric A is Lanczos [Stewart 2001, SIAM J. Matrix Anal. 23, 601]). Residuals
/// |A v - lambda v| are below 1e-4 threshold. It holds n (most + 40) numbers. PETSc options with the prefix
/// "recoil_eig_" may choose other settings ("-recoil_eig_eps_monitor").
/// @param multiply y = A x, n numbers each. @param threshold > 0, in the unit of A. @param most > 0.
/// `is_complete` is false where a thousand restarts do not suffice. @throws LibraryError where SLEPc fails,
/// and whatever `multiply` throws. Not collective.
Eigenpairs
largest_eigenpairs(std::size_t n,
                   const std::function<void(std::span<const double> x, std::span<double> y)>& multiply,
                   double threshold, std::size_t most);

} // namespace recoil::linalg
