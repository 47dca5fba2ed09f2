#include "recoil/geometry/inversion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <Eigen/LU>
#include <Eigen/QR>
#include <gtest/gtest.h>

using recoil::geometry::inversion_free_step;

namespace {

using Real = long double;
template <int dim>
using Matrix = Eigen::Matrix<double, dim, dim>;
template <int dim>
using Exact = Eigen::Matrix<Real, dim, dim>;

template <int dim>
Matrix<dim> random_matrix(std::mt19937& generator, double scale) {
  std::normal_distribution<double> normal;
  Matrix<dim> F;
  for (auto& entry : F.reshaped()) entry = scale * normal(generator);
  return F;
}

template <int dim>
Real determinant_at(const Matrix<dim>& F, const Matrix<dim>& dF, Real s) {
  return (F.template cast<Real>() + s * dF.template cast<Real>()).determinant();
}

// Safe by dense sampling up to the step, and not timid: just behind a step below 1 the determinant is
// (nearly) zero.
template <int dim>
void check(const Matrix<dim>& F, const Matrix<dim>& dF, int& limited) {
  const double step = inversion_free_step<dim>(F, dF);
  ASSERT_GE(step, 0.0);
  ASSERT_LE(step, 1.0);
  for (int i = 0; i <= 100; ++i)
    ASSERT_GT(determinant_at<dim>(F, dF, step * i / 100.0L), 0.0L) << F << "\n" << dF;
  if (step == 1.0) return;
  ++limited;
  const Real scale = std::pow(static_cast<Real>(F.norm() + dF.norm()), dim);
  EXPECT_LT(determinant_at<dim>(F, dF, step * (1.0L + 4e-9L)), 1e-13L * scale) << F << "\n"
                                                                               << dF << "\n"
                                                                               << step;
}

template <int dim>
void check_random_steps() {
  std::mt19937 generator(3);
  int limited = 0, free = 0;
  for (int repeat = 0; repeat < 6000; ++repeat) {
    Matrix<dim> F = random_matrix<dim>(generator, repeat % 2 ? 1.0 : 0.2);
    if (repeat % 2 == 0) F += Matrix<dim>::Identity();
    if (F.determinant() < 1e-6) F.col(0) *= -1.0;
    if (F.determinant() < 1e-6) continue;
    const double scale = std::pow(10.0, -3.0 + 5.0 * (repeat % 101) / 100.0);
    const int before = limited;
    check<dim>(F, random_matrix<dim>(generator, scale), limited);
    free += limited == before;
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(limited, 600);
  EXPECT_GT(free, 600);
}

} // namespace

TEST(InversionFreeStep, IsSafeAndTightOnRandomTriangles) { check_random_steps<2>(); }
TEST(InversionFreeStep, IsSafeAndTightOnRandomTetrahedra) { check_random_steps<3>(); }

TEST(InversionFreeStep, FindsRootsKnownByHand) {
  const Eigen::Matrix3d I = Eigen::Matrix3d::Identity();
  EXPECT_EQ(inversion_free_step<3>(I, Eigen::Matrix3d::Zero()), 1.0);
  EXPECT_EQ(inversion_free_step<3>(I, 5.0 * I), 1.0);
  EXPECT_EQ(inversion_free_step<3>(I, -0.999 * I), 1.0);
  EXPECT_NEAR(inversion_free_step<3>(I, -4.0 * I), 0.25, 1e-4); // a triple root, and never beyond it
  EXPECT_LT(inversion_free_step<3>(I, -4.0 * I), 0.25);
  // Linear, quadratic and cubic determinants: leading coefficients vanish.
  Eigen::Matrix3d D = Eigen::Matrix3d::Zero();
  D(0, 0) = -2.0;
  EXPECT_NEAR(inversion_free_step<3>(I, D), 0.5, 1e-8);
  D(1, 1) = -8.0;
  EXPECT_NEAR(inversion_free_step<3>(I, D), 0.125, 1e-8);
  D(2, 2) = -1e12;
  EXPECT_NEAR(inversion_free_step<3>(I, D) * 1e12, 1.0, 1e-8);
  EXPECT_EQ(inversion_free_step<3>(I, 1e30 * I), 1.0);
  EXPECT_GE(inversion_free_step<3>(I, -1e30 * I) * 1e30, 0.999);
  Eigen::Matrix2d E;
  E << 0.0, 3.0, 0.0, 0.0; // pure shear
  EXPECT_EQ(inversion_free_step<2>(Eigen::Matrix2d::Identity(), E), 1.0);
  E << 0.0, 2.0, 2.0, 0.0; // 1 - 4 s^2
  EXPECT_NEAR(inversion_free_step<2>(Eigen::Matrix2d::Identity(), E), 0.5, 1e-8);
  EXPECT_EQ(inversion_free_step<2>(Eigen::Matrix2d::Identity(), -Eigen::Matrix2d::Identity()) < 1.0, true);
}

TEST(InversionFreeStep, StopsBeforeDoubleRootsThatTouch) {
  // det = (1 - 2 s)^2 touches zero at 1/2 and is positive again at 1.
  const Eigen::Matrix2d I = Eigen::Matrix2d::Identity();
  EXPECT_LT(inversion_free_step<2>(I, -2.0 * I), 0.5);
  EXPECT_NEAR(inversion_free_step<2>(I, -2.0 * I), 0.5, 1e-6);
  // Just lifted off zero by 1e-6: free.
  Eigen::Matrix2d E;
  E << -2.0, -1e-3, 1e-3, -2.0;
  EXPECT_EQ(inversion_free_step<2>(I, E), 1.0);
}

TEST(InversionFreeStep, IsSafeOnNearlyFlatElements) {
  std::mt19937 generator(5);
  int limited = 0;
  for (double thickness : {1e-3, 1e-6, 1e-9, 1e-12}) {
    for (int repeat = 0; repeat < 500; ++repeat) {
      const Eigen::Matrix3d Q = random_matrix<3>(generator, 1.0).householderQr().householderQ();
      Eigen::Matrix3d F = Q * Eigen::Vector3d(1.0, 2.0, thickness).asDiagonal() * Q.transpose();
      check<3>(F, random_matrix<3>(generator, thickness * (repeat % 7)), limited);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(limited, 500);
}

TEST(InversionFreeStep, RefusesInvertedAndNonFiniteInput) {
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity();
  F(0, 0) = -1.0;
  EXPECT_EQ(inversion_free_step<3>(F, Eigen::Matrix3d::Zero()), 0.0);
  F(0, 0) = 0.0;
  EXPECT_EQ(inversion_free_step<3>(F, Eigen::Matrix3d::Identity()), 0.0);
  const Eigen::Matrix3d I = Eigen::Matrix3d::Identity();
  Eigen::Matrix3d D = Eigen::Matrix3d::Zero();
  D(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(inversion_free_step<3>(I, D), 0.0);
  D(1, 2) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(inversion_free_step<3>(I, D), 0.0);
}
