#pragma once

#include <Eigen/Core>

namespace recoil::linalg {

// Decompositions of dense matrices, compiled once: their templates take seconds wherever they are
// instantiated. For matrices of a step or a fit; what runs per cell or pair keeps Eigen's types of fixed
// size. None is collective.

/// Eigenvalues of a symmetric matrix, ascending, with orthonormal eigenvectors as columns.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
  bool converged = true; ///< false, where entries are not finite for one: values and vectors are undefined
};

/// A = V diag(values) V' for symmetric A, of which the lower triangle is read.
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& A);

/// Singular values, descending, with as many columns of U and V.
struct SingularValues {
  Eigen::VectorXd values;
  Eigen::MatrixXd U, V;
};

/// A = U diag(values) V', by Jacobi rotations: small singular values of badly scaled columns keep their
/// digits.
SingularValues singular_values(const Eigen::MatrixXd& A);

/// A^-1 of a regular square matrix.
Eigen::MatrixXd inverse(const Eigen::MatrixXd& A);

/// X with A X = B for a symmetric definite matrix A, of which the lower triangle is read.
Eigen::MatrixXd solve_definite(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// X (n x k) with the least |A X - B| for A (m x n) of full column rank and B (m x k).
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// X (n x k) with the least |X| among those with the least |A X - B|, for A (m x n) of any rank, B (m x k).
Eigen::MatrixXd least_norm_solution(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// X = A^+ B (n x k) for A (m x n) and B (m x k), singular values below `threshold` times the largest one
/// taken for zero.
Eigen::MatrixXd pseudo_solve(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, double threshold);

/// The upper triangle R of A = Q R with min(rows, columns) rows; its diagonal may be negative.
Eigen::MatrixXd qr_factor(const Eigen::MatrixXd& A);

/// The length of the projection of b on the range of A.
double norm_in_range(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

} // namespace recoil::linalg
