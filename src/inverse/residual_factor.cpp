#include "recoil/inverse/residual_factor.hpp"

#include <algorithm>

#include "recoil/base/error.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::inverse {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// R, filled up with rows of zeros where there are fewer rows than columns.
RowMajor upper_factor(const Eigen::MatrixXd& rows) {
  RowMajor R = RowMajor::Zero(rows.cols(), rows.cols());
  if (rows.rows() == 0) return R;
  const Eigen::Index count = std::min(rows.rows(), rows.cols());
  R.topRows(count) = linalg::qr_factor(rows);
  for (Eigen::Index i = 0; i < count; ++i)
    if (R(i, i) < 0) R.row(i) = -R.row(i);
  return R;
}

} // namespace

Eigen::MatrixXd triangular_factor(const parallel::Communicator& comm,
                                  const std::vector<std::vector<double>>& columns,
                                  std::span<const double> residuals) {
  const Eigen::Index num_rows = std::ssize(residuals), n = std::ssize(columns);
  Eigen::MatrixXd rows(num_rows, n + 1);
  for (Eigen::Index j = 0; j < n; ++j) {
    RECOIL_ASSERT(std::ssize(columns[j]) == num_rows);
    rows.col(j) = Eigen::Map<const Eigen::VectorXd>(columns[j].data(), num_rows);
  }
  rows.col(n) = Eigen::Map<const Eigen::VectorXd>(residuals.data(), num_rows);
  RowMajor R = upper_factor(rows);
  const std::vector<double> all = comm.all_gather(std::span<const double>(R.data(), R.size()));
  R = upper_factor(Eigen::Map<const RowMajor>(all.data(), comm.size() * (n + 1), n + 1));
  // Processors of different kinds round differently.
  comm.broadcast(std::as_writable_bytes(std::span(R.data(), R.size())));
  return R;
}

Eigen::MatrixXd triangular_factor(const Eigen::MatrixXd& rows) { return upper_factor(rows); }

Eigen::VectorXd least_squares_gradient(const Eigen::MatrixXd& R) {
  const Eigen::Index n = R.cols() - 1;
  return 2 * (R.leftCols(n).transpose() * R.col(n));
}

Eigen::MatrixXd gauss_newton_hessian(const Eigen::MatrixXd& R) {
  const Eigen::MatrixXd J = R.leftCols(R.cols() - 1);
  return 2 * (J.transpose() * J);
}

} // namespace recoil::inverse
