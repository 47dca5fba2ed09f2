#pragma once

#include <cmath>
#include <optional>

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

/// What the norm |b| of a right-hand side says before a solve: x = 0 solves A x = 0, infinite or undefined
/// numbers have no solution; nothing for all others.
inline std::optional<LinearResult> result_without_solve(double norm_of_b) {
  if (!std::isfinite(norm_of_b)) return LinearResult{};
  if (norm_of_b == 0) return LinearResult{LinearOutcome::converged};
  return {};
}

} // namespace recoil::linalg
