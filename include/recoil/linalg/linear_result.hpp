#pragma once

namespace recoil::linalg {

enum class LinearOutcome {
  converged,
  indefinite,    ///< the matrix was found not to be positive definite
  not_converged, ///< iteration limit reached or stagnation
  failed ///< infinite or undefined numbers in matrix or right-hand side, or the preconditioner broke down
};

/// What is known about one linear solve; the same on every rank.
struct LinearResult {
  LinearOutcome outcome = LinearOutcome::failed;
  int iterations = 0;           ///< of conjugate gradients
  double relative_residual = 0; ///< |b - A x| / |b|, computed afresh after the solve; 0 for b = 0
};

} // namespace recoil::linalg
