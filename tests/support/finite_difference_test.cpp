#include "support/finite_difference.hpp"

#include <gtest/gtest.h>

using recoil::testing::gradient_error;
using recoil::testing::jacobian_error;

namespace {

double value(const Eigen::VectorXd& x) { return std::sin(x[0]) * x[1] + std::exp(x[1] * x[2]); }
Eigen::VectorXd gradient(const Eigen::VectorXd& x) {
  const double exponential = std::exp(x[1] * x[2]);
  return Eigen::Vector3d(std::cos(x[0]) * x[1], std::sin(x[0]) + x[2] * exponential, x[1] * exponential);
}
Eigen::MatrixXd hessian(const Eigen::VectorXd& x) {
  const double exponential = std::exp(x[1] * x[2]), mixed = (1 + x[1] * x[2]) * exponential;
  Eigen::Matrix3d h;
  h << -std::sin(x[0]) * x[1], std::cos(x[0]), 0,       //
      std::cos(x[0]), x[2] * x[2] * exponential, mixed, //
      0, mixed, x[1] * x[1] * exponential;
  return h;
}

} // namespace

TEST(FiniteDifference, accepts_right_derivatives_and_refuses_wrong_ones) {
  const Eigen::VectorXd x = Eigen::Vector3d(0.4, -0.7, 1.1);
  EXPECT_LT(gradient_error(value, x, gradient(x)), 1e-9);
  EXPECT_LT(jacobian_error(gradient, x, hessian(x)), 1e-9);
  Eigen::VectorXd wrong = gradient(x);
  wrong[2] *= 1.001;
  EXPECT_GT(gradient_error(value, x, wrong), 1e-5);
  Eigen::MatrixXd wrong_hessian = hessian(x);
  wrong_hessian(0, 1) += 1e-3;
  EXPECT_GT(jacobian_error(gradient, x, wrong_hessian), 1e-5);
}

TEST(FiniteDifference, refuses_wrong_shapes_and_nan) {
  const Eigen::VectorXd x = Eigen::Vector3d(0.4, -0.7, 1.1);
  EXPECT_EQ(jacobian_error(gradient, x, Eigen::MatrixXd::Zero(2, 3)),
            std::numeric_limits<double>::infinity());
  Eigen::VectorXd nan = gradient(x);
  nan[0] = std::nan("");
  EXPECT_EQ(gradient_error(value, x, nan), std::numeric_limits<double>::infinity());
}

TEST(FiniteDifference, scale_follows_small_problems) {
  const double length = 1e-6;
  const auto tiny = [&](const Eigen::VectorXd& x) { return value(x / length); };
  const Eigen::VectorXd x = length * Eigen::Vector3d(0.4, -0.7, 1.1);
  EXPECT_LT(gradient_error(tiny, x, gradient(x / length) / length, length), 1e-9);
}
