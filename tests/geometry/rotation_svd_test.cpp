#include "recoil/geometry/rotation_svd.hpp"

#include <random>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "support/finite_difference.hpp"

using namespace recoil::geometry;

namespace {

/// dR_ij / dF_kl of the polar rotation at [dim * i + j, dim * k + l]; symmetric.
template <int dim>
Eigen::Matrix<double, dim * dim, dim * dim> rotation_derivative(const RotationSvd<dim>& svd) {
  Eigen::Matrix<double, dim * dim, dim * dim> D;
  D.setZero();
  for (int t = 0; t < RotationSvd<dim>::num_twists; ++t) {
    const Eigen::Matrix<double, dim, dim> transposed = svd.twist(t).transpose();
    const Eigen::Matrix<double, dim * dim, 1> T = transposed.reshaped();
    D.noalias() += svd.twist_stiffness(t) * T * T.transpose();
  }
  return D;
}

template <int dim>
using Matrix = Eigen::Matrix<double, dim, dim>;

template <int dim>
Matrix<dim> random_matrix(std::mt19937& generator) {
  std::normal_distribution<double> normal;
  Matrix<dim> F;
  for (auto& entry : F.reshaped()) entry = normal(generator);
  return F;
}

template <int dim>
void check_decomposition(const Matrix<dim>& F) {
  const RotationSvd<dim> svd = rotation_svd<dim>(F);
  const double scale = std::max(F.norm(), 1e-300);
  EXPECT_LT((svd.U * svd.sigma.asDiagonal() * svd.V.transpose() - F).norm(), 1e-14 * scale) << F;
  EXPECT_LT((svd.U.transpose() * svd.U - Matrix<dim>::Identity()).norm(), 1e-14);
  EXPECT_LT((svd.V.transpose() * svd.V - Matrix<dim>::Identity()).norm(), 1e-14);
  EXPECT_NEAR(svd.U.determinant(), 1.0, 1e-14);
  EXPECT_NEAR(svd.V.determinant(), 1.0, 1e-14);
  for (int i = 0; i + 1 < dim; ++i) {
    EXPECT_GE(svd.sigma[i], 0.0);
    EXPECT_GE(svd.sigma[i], std::abs(svd.sigma[i + 1]));
  }
  EXPECT_TRUE(rotation_derivative<dim>(svd).allFinite());
}

template <int dim>
void check_all() {
  std::mt19937 generator(11);
  double worst = 0.0;
  int inverted = 0;
  for (int repeat = 0; repeat < 300; ++repeat) {
    const Matrix<dim> F = random_matrix<dim>(generator);
    check_decomposition<dim>(F);
    const RotationSvd<dim> svd = rotation_svd<dim>(F);
    // Away from the set where R jumps.
    if (svd.sigma[dim - 2] + svd.sigma[dim - 1] < 0.2) continue;
    inverted += svd.sigma[dim - 1] < 0.0;
    const auto rotation = [](const Eigen::VectorXd& f) {
      const Matrix<dim> M = f.reshaped<Eigen::RowMajor>(dim, dim);
      return Eigen::VectorXd(rotation_svd<dim>(M).rotation().template reshaped<Eigen::RowMajor>());
    };
    const Eigen::VectorXd f = F.template reshaped<Eigen::RowMajor>();
    const auto D = rotation_derivative<dim>(svd);
    EXPECT_LT((D - D.transpose()).norm(), 1e-13 * D.norm());
    EXPECT_GT(D.norm(), 0.1);
    worst = std::max(worst, recoil::testing::jacobian_error(rotation, f, D));
  }
  EXPECT_GT(inverted, 20);
  EXPECT_LT(worst, 1e-7);

  // Degenerate: zero, rank one, multiples of rotations and reflections.
  check_decomposition<dim>(Matrix<dim>::Zero());
  check_decomposition<dim>(Matrix<dim>::Identity());
  check_decomposition<dim>(-Matrix<dim>::Identity());
  check_decomposition<dim>(Matrix<dim>::Ones());
  Matrix<dim> reflection = Matrix<dim>::Identity();
  reflection(0, 0) = -1.0;
  check_decomposition<dim>(reflection);
  check_decomposition<dim>(1e-150 * random_matrix<dim>(generator));
  check_decomposition<dim>(1e150 * random_matrix<dim>(generator));
}

} // namespace

TEST(RotationSvd, DecomposesAndDifferentiatesIn2D) { check_all<2>(); }
TEST(RotationSvd, DecomposesAndDifferentiatesIn3D) { check_all<3>(); }

TEST(RotationSvd, SmallestValueCarriesTheSign) {
  const RotationSvd<3> svd = rotation_svd<3>(Eigen::Vector3d(-0.5, 2.0, 1.0).asDiagonal().toDenseMatrix());
  EXPECT_NEAR(svd.sigma[0], 2.0, 1e-15);
  EXPECT_NEAR(svd.sigma[1], 1.0, 1e-15);
  EXPECT_NEAR(svd.sigma[2], -0.5, 1e-15);
  EXPECT_LT((svd.rotation() - Eigen::Matrix3d::Identity()).norm(), 1e-14);
}
