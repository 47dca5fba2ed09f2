#include "recoil/linalg/dense.hpp"

#include <algorithm>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace recoil::linalg {

using Eigen::MatrixXd;

SymmetricEigen symmetric_eigen(const MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

SingularValues singular_values(const MatrixXd& A) {
  const Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

MatrixXd inverse(const MatrixXd& A) { return A.inverse(); }

MatrixXd solve_definite(const MatrixXd& A, const MatrixXd& B) { return A.ldlt().solve(B); }

MatrixXd least_squares(const MatrixXd& A, const MatrixXd& B) { return A.householderQr().solve(B); }

MatrixXd least_norm_solution(const MatrixXd& A, const MatrixXd& B) {
  return A.completeOrthogonalDecomposition().solve(B);
}

MatrixXd pseudo_solve(const MatrixXd& A, const MatrixXd& B, double threshold) {
  Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  svd.setThreshold(threshold);
  return svd.solve(B);
}

MatrixXd qr_factor(const MatrixXd& A) {
  const Eigen::Index count = std::min(A.rows(), A.cols());
  return A.householderQr().matrixQR().topRows(count).triangularView<Eigen::Upper>();
}

double norm_in_range(const MatrixXd& A, const Eigen::VectorXd& b) {
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(A);
  const Eigen::VectorXd rotated = qr.householderQ().transpose() * b;
  return rotated.head(qr.rank()).norm();
}

} // namespace recoil::linalg
