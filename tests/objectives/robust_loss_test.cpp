#include <cmath>

#include <gtest/gtest.h>

#include "recoil/objectives/robust_loss.hpp"

namespace recoil::objectives::robust_loss_test {
namespace {

using Type = RobustLoss::Type;

/// The formulas of the header as they stand there.
double rho(const RobustLoss& loss, double r) {
  const double k = loss.width, s = r * r;
  if (loss.type == Type::huber) return std::abs(r) <= k ? s : 2 * k * std::abs(r) - k * k;
  if (loss.type == Type::soft_l1) return 2 * k * k * (std::sqrt(1 + s / (k * k)) - 1);
  return k * k * std::log(1 + s / (k * k));
}

class RobustLosses : public ::testing::TestWithParam<Type> {
protected:
  RobustLoss loss() const { return {GetParam(), RobustLoss::usual_width(GetParam())}; }
};

TEST_P(RobustLosses, HaveTheSquaresOfTheFormulas) {
  for (const double r : {-3000.0, -4.0, -1.3, 0.2, 1.0, 1.5, 7.0, 300.0}) {
    const double t = loss().residual(r);
    EXPECT_NEAR(t * t / rho(loss(), r), 1, 1e-12) << r;
    EXPECT_EQ(std::signbit(t), std::signbit(r));
    EXPECT_NEAR(loss().misfit(t) / r, 1, 1e-10) << r;
    const double h = 1e-5 * std::abs(r);
    EXPECT_NEAR((loss().residual(r + h) - loss().residual(r - h)) / (2 * h) / loss().slope(r), 1, 1e-7) << r;
  }
}

TEST_P(RobustLosses, AreSquaresNearZero) {
  EXPECT_EQ(loss().residual(0), 0);
  EXPECT_EQ(loss().slope(0), 1);
  EXPECT_EQ(loss().misfit(0), 0);
  EXPECT_NEAR(loss().residual(1e-9) / 1e-9, 1, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(All, RobustLosses, ::testing::Values(Type::huber, Type::soft_l1, Type::cauchy));

} // namespace
} // namespace recoil::objectives::robust_loss_test
