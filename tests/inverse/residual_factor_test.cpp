#include "recoil/inverse/residual_factor.hpp"

#include <cmath>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <gtest/gtest.h>

namespace recoil::inverse {
namespace {

Eigen::MatrixXd rough(Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd A(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j)
      A(i, j) = std::sin(12.9898 * static_cast<double>(i) + 78.233 * static_cast<double>(j * j + 1));
  return A;
}

/// The factor of [J r] with its rows in parts, `first_rows` of them (at most) on the first rank and the
/// others on the last.
Eigen::MatrixXd factor_of(const Eigen::MatrixXd& A, Eigen::Index first_rows) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  const Eigen::Index split = std::min(first_rows, A.rows());
  const Eigen::Index begin = comm.rank() == 0 ? 0 : is_last ? split : A.rows();
  const Eigen::Index end = is_last ? A.rows() : comm.rank() == 0 ? split : A.rows();
  std::vector<std::vector<double>> columns;
  for (Eigen::Index j = 0; j < A.cols(); ++j)
    columns.emplace_back(A.col(j).data() + begin, A.col(j).data() + end);
  const std::vector<double> r = columns.back();
  columns.pop_back();
  return triangular_factor(comm, columns, r);
}

/// Of all rows in one place.
Eigen::MatrixXd direct_factor(const Eigen::MatrixXd& A) {
  Eigen::MatrixXd R = Eigen::HouseholderQR<Eigen::MatrixXd>(A).matrixQR().topRows(A.cols());
  R = R.triangularView<Eigen::Upper>();
  for (Eigen::Index i = 0; i < R.rows(); ++i)
    if (R(i, i) < 0) R.row(i) *= -1;
  return R;
}

double relative(const Eigen::MatrixXd& error, const Eigen::MatrixXd& to) { return error.norm() / to.norm(); }

TEST(TriangularFactor, IsThatOfAllRowsHoweverTheyAreSpread) {
  const Eigen::MatrixXd A = rough(40, 6), expected = direct_factor(A);
  for (const Eigen::Index first : {0, 3, 20, 38, 40}) {
    const Eigen::MatrixXd R = factor_of(A, first);
    EXPECT_LT(relative(R - expected, expected), 1e-13) << first;
    EXPECT_LT(relative(R.transpose() * R - A.transpose() * A, A.transpose() * A), 1e-13) << first;
    EXPECT_TRUE((R.diagonal().array() >= 0).all());
    EXPECT_EQ(R, Eigen::MatrixXd(R.triangularView<Eigen::Upper>()));
  }
}

TEST(TriangularFactor, OfFewerRowsThanColumns) {
  for (const Eigen::Index rows : {0, 1, 3}) {
    const Eigen::MatrixXd A = rough(rows, 6), R = factor_of(A, 1);
    ASSERT_EQ(R.rows(), 6);
    ASSERT_EQ(R.cols(), 6);
    EXPECT_LE((R.transpose() * R - A.transpose() * A).norm(), 1e-14 * (1 + A.squaredNorm())) << rows;
    EXPECT_TRUE((R.diagonal().array() >= 0).all());
  }
}

TEST(TriangularFactor, OfResidualsAlone) {
  const Eigen::MatrixXd A = rough(20, 1);
  EXPECT_NEAR(factor_of(A, 7)(0, 0), A.norm(), 1e-14 * A.norm());
}

// J'J would have the condition 1e24: what rounding leaves of its smallest eigenvalue is noise.
TEST(TriangularFactor, KeepsSmallSingularValues) {
  const auto orthonormal = [](const Eigen::MatrixXd& A) {
    return Eigen::MatrixXd(Eigen::HouseholderQR<Eigen::MatrixXd>(A).householderQ() *
                           Eigen::MatrixXd::Identity(A.rows(), A.cols()));
  };
  const Eigen::Vector4d sizes{1, 1e-4, 1e-8, 1e-12};
  const Eigen::MatrixXd A =
      orthonormal(rough(30, 4)) * sizes.asDiagonal() * orthonormal(rough(4, 4)).transpose();
  const Eigen::VectorXd found = Eigen::JacobiSVD<Eigen::MatrixXd>(factor_of(A, 11)).singularValues();
  for (Eigen::Index i = 0; i < 4; ++i) EXPECT_NEAR(found[i], sizes[i], 1e-15 + 1e-13 * sizes[i]) << i;
}

} // namespace
} // namespace recoil::inverse
