#include "recoil/geometry/psd_projection.hpp"

#include <limits>
#include <random>

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

using namespace recoil::geometry;

namespace {

template <class Matrix>
void check_projection(const Matrix& original) {
  Matrix A = original;
  ASSERT_TRUE(project_psd(A));
  const double scale = std::max(original.norm(), 1e-300);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> before(original), after(A);
  EXPECT_GT(after.eigenvalues()[0], -1e-13 * scale);
  EXPECT_LT((A - A.transpose()).norm(), 1e-14 * scale);
  const Eigen::MatrixXd nearest = before.eigenvectors() * before.eigenvalues().cwiseMax(0.0).asDiagonal() *
                                  before.eigenvectors().transpose();
  EXPECT_LT((A - nearest).norm(), 1e-13 * scale);
}

template <int size>
void check_random_matrices() {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  for (int repeat = 0; repeat < 50; ++repeat) {
    Eigen::Matrix<double, size, size> A;
    for (auto& entry : A.reshaped()) entry = normal(generator);
    A = (A + A.transpose()).eval();
    check_projection(A);
    A.diagonal().array() += 3.0; // mostly positive
    check_projection(A);
    A.diagonal().array() -= 30.0; // negative definite
    check_projection(A);
  }
  check_projection(Eigen::Matrix<double, size, size>(Eigen::Matrix<double, size, size>::Zero()));
}

} // namespace

TEST(PsdProjection, ClampsEigenvaluesOfFixedSizes) {
  check_random_matrices<2>();
  check_random_matrices<3>();
  check_random_matrices<4>();
  check_random_matrices<6>();
  check_random_matrices<8>();
  check_random_matrices<9>();
  check_random_matrices<12>();
}

TEST(PsdProjection, ClampsEigenvaluesOfRuntimeSizes) {
  for (int size = 1; size <= 12; ++size) {
    SmallMatrix<12> A = Eigen::MatrixXd::Random(size, size);
    A = (A + A.transpose()).eval();
    check_projection(A);
  }
}

TEST(PsdProjection, LeavesPositiveDefiniteMatricesAlone) {
  Eigen::Matrix<double, 9, 9> A = Eigen::Matrix<double, 9, 9>::Random();
  A = (A * A.transpose()).eval() + 0.1 * Eigen::Matrix<double, 9, 9>::Identity();
  Eigen::Matrix<double, 9, 9> B = A;
  ASSERT_TRUE(project_psd(B));
  EXPECT_EQ(A, B);
}

TEST(PsdProjection, ReportsWhatIsNotFinite) {
  Eigen::Matrix4d A = Eigen::Matrix4d::Identity();
  A(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(project_psd(A));
  EXPECT_EQ(A(0, 0), 1.0);
}
