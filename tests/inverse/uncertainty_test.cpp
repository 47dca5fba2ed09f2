#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "recoil/base/error.hpp"
#include "recoil/inverse/fit_statistics.hpp"
#include "recoil/inverse/uncertainty.hpp"

namespace recoil::inverse {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd factor_of(const MatrixXd& J) {
  return J.householderQr().matrixQR().topRows(J.cols()).triangularView<Eigen::Upper>();
}

/// Rows (1, t) of a straight line at t = 0, 0.5, .. 5.5.
MatrixXd line() {
  MatrixXd J(12, 2);
  for (int i = 0; i < 12; ++i) J.row(i) << 1, 0.5 * i;
  return J;
}

/// Textbook: deviation of the slope sigma / sqrt(S), S = sum (t - mean)^2, of the value at 0
/// sigma sqrt(sum t^2 / (m S)), correlation -mean / sqrt(mean of t^2).
TEST(Uncertainty, IsThatOfAStraightLine) {
  const double sigma = 0.3;
  const VectorXd t = line().col(1);
  const double spread = (t.array() - t.mean()).square().sum();
  const Uncertainty found = estimate_uncertainty({factor_of(line() / sigma), 8.5, 12, true, {false, false}});
  EXPECT_EQ(found.variance, 1);
  EXPECT_EQ(found.degrees_of_freedom, 10);
  EXPECT_EQ(found.quantile, normal_quantile());
  EXPECT_NEAR(found.deviations[0], sigma * std::sqrt(t.squaredNorm() / (12 * spread)), 1e-14);
  EXPECT_NEAR(found.deviations[1], sigma / std::sqrt(spread), 1e-14);
  EXPECT_NEAR(found.correlations(0, 1), -t.mean() / std::sqrt(t.squaredNorm() / 12), 1e-14);
  EXPECT_NEAR(found.covariance(1, 0), found.correlations(0, 1) * found.deviations[0] * found.deviations[1],
              1e-14);
  EXPECT_TRUE(found.unidentifiable.empty());

  const Uncertainty estimated = estimate_uncertainty({factor_of(line()), 0.9, 12, false, {false, false}});
  EXPECT_NEAR(estimated.variance, 0.09, 1e-16);
  EXPECT_NEAR(estimated.deviations[1], found.deviations[1], 1e-14);
  EXPECT_EQ(estimated.quantile, student_quantile(10));
}

/// Shares of the intervals of each parameter that hold the truth.
VectorXd coverage(bool has_deviations) {
  constexpr int repetitions = 1000, m = 9;
  const double sigma = 0.3;
  const Eigen::Vector3d truth{2, -1, 0.5};
  MatrixXd J(m, 3);
  for (int i = 0; i < m; ++i) J.row(i) << 1, 0.2 * i, std::sin(i);
  const double weight = has_deviations ? 1 / sigma : 1;
  const MatrixXd R = factor_of(J * weight);
  std::mt19937_64 random(2024);
  std::normal_distribution<double> normal(0, sigma);
  VectorXd hits = VectorXd::Zero(3);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    VectorXd data = J * truth;
    for (double& y : data) y += normal(random);
    const VectorXd fit = J.householderQr().solve(data);
    const double squares = ((J * fit - data) * weight).squaredNorm();
    const Uncertainty found = estimate_uncertainty({R, squares, m, has_deviations, {false, false, false}});
    for (int i = 0; i < 3; ++i) {
      const auto [low, high] =
          physical_interval(fit[i], found.deviations[i], found.quantile, [](double z) { return z; });
      hits[i] += low <= truth[i] && truth[i] <= high;
    }
  }
  return hits / repetitions;
}

TEST(Uncertainty, HasIntervalsThatHoldTheTruthAsOftenAsTheySay) {
  for (const bool has_deviations : {true, false})
    for (const double share : coverage(has_deviations)) {
      EXPECT_GE(share, 0.93);
      EXPECT_LE(share, 0.97);
    }
}

/// R = [1 1; 0 e] has the inverse [1 -1/e; 0 1/e]: variances 1 + 1/e^2 and 1/e^2, and singular values whose
/// product is e and the sum of whose squares is 2 + e^2. With e = 1e-9 nothing of it were left in R'R.
TEST(Uncertainty, FindsTheSumOfWhichAloneTheDataKnow) {
  const double e = 1e-9;
  const Uncertainty found = estimate_uncertainty({MatrixXd{{1, 1}, {0, e}}, 3, 20, true, {false, false}});
  EXPECT_NEAR(found.deviations[0] * e, 1, 1e-6);
  EXPECT_NEAR(found.deviations[1] * e, 1, 1e-6);
  EXPECT_NEAR(found.correlations(0, 1), -1, 1e-15);
  ASSERT_EQ(found.unidentifiable.size(), 1);
  EXPECT_NEAR(found.unidentifiable[0].shares[0], 0.5, 1e-8);
  EXPECT_NEAR(found.unidentifiable[0].shares[1], 0.5, 1e-8);
  EXPECT_NEAR(found.unidentifiable[0].deviation_ratio * e, 2, 1e-6);
}

/// What counts is whether the data know more than was known before, in whatever units.
TEST(Uncertainty, CallsOpenWhatTheDataKnowLessOfThanBoundsPriorsAndSizes) {
  // Known to 1e-9 and to 1e-5 of its size: neither is open.
  EXPECT_TRUE(estimate_uncertainty({MatrixXd{{1e9, 0}, {0, 1e5}}, 3, 20, true, {false, false}})
                  .unidentifiable.empty());
  // The only value of a fit, with a deviation of 268 between bounds of 0 and 1.
  FitSolution friction{MatrixXd::Constant(1, 1, 1 / 268.0), 3, 20, true, {false}};
  friction.ranges = {1 / std::sqrt(12.0)};
  const Uncertainty open = estimate_uncertainty(friction);
  ASSERT_EQ(open.unidentifiable.size(), 1);
  EXPECT_NEAR(open.unidentifiable[0].deviation, 268 * std::sqrt(12.0), 1e-9);
  friction.ranges = {300};
  EXPECT_TRUE(estimate_uncertainty(friction).unidentifiable.empty());
  // A prior of deviation 0.5, beside which the data have one of 2.
  FitSolution with_prior{MatrixXd::Constant(1, 1, std::hypot(0.5, 2)), 3, 21, true, {false}};
  with_prior.ranges = {0.5};
  with_prior.data_factor = MatrixXd::Constant(1, 1, 0.5);
  EXPECT_EQ(estimate_uncertainty(with_prior).unidentifiable.size(), 1);
  EXPECT_NEAR(estimate_uncertainty(with_prior).unidentifiable[0].deviation, 4, 1e-12);
  // Without stated deviations the residuals tell: s = 0.1 here.
  EXPECT_TRUE(
      estimate_uncertainty({MatrixXd::Constant(1, 1, 0.5), 0.19, 20, false, {false}}).unidentifiable.empty());
  EXPECT_EQ(
      estimate_uncertainty({MatrixXd::Constant(1, 1, 0.05), 0.19, 20, false, {false}}).unidentifiable.size(),
      1);
}

TEST(Uncertainty, GetsOnWithVariablesThatChangeNothing) {
  MatrixXd R = MatrixXd::Zero(3, 3);
  R(0, 0) = 4;
  R(2, 2) = 3e-3;
  const Uncertainty found = estimate_uncertainty({R, 3, 20, true, {false, false, false}});
  EXPECT_NEAR(found.deviations[0], 0.25, 1e-15);
  EXPECT_GT(found.deviations[1], 1e14);
  EXPECT_TRUE(std::isfinite(found.deviations[1]));
  ASSERT_EQ(found.unidentifiable.size(), 2);
  EXPECT_EQ(found.unidentifiable[0].shares, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(found.unidentifiable[1].shares, (std::vector<double>{0, 0, 1}));
  EXPECT_NEAR(found.unidentifiable[1].deviation_ratio, 4 / 3e-3, 1e-9);
  EXPECT_THROW(estimate_uncertainty({MatrixXd::Zero(2, 2), 3, 20, true, {false, false}}), InputError);
}

/// A variable at its bound is known: the others have the deviations of a fit without it.
TEST(Uncertainty, LeavesOutVariablesAtTheirBounds) {
  MatrixXd J(12, 3);
  J << line().col(0), line().col(1).array().square(), line().col(1);
  const Uncertainty found = estimate_uncertainty({factor_of(J), 0.9, 12, false, {false, true, false}});
  const Uncertainty without = estimate_uncertainty({factor_of(line()), 0.9, 12, false, {false, false}});
  EXPECT_EQ(found.degrees_of_freedom, 10);
  EXPECT_NEAR(found.deviations[0], without.deviations[0], 1e-14);
  EXPECT_NEAR(found.deviations[2], without.deviations[1], 1e-14);
  EXPECT_NEAR(found.correlations(0, 2), without.correlations(0, 1), 1e-14);
  EXPECT_TRUE(std::isnan(found.deviations[1]));
  EXPECT_TRUE(std::isnan(found.correlations(1, 1)));
  EXPECT_TRUE(std::isnan(physical_interval(1, found.deviations[1], 2, [](double z) { return z; })[0]));

  const Uncertainty nothing = estimate_uncertainty({factor_of(line()), 1, 12, true, {true, true}});
  EXPECT_TRUE(std::isnan(nothing.deviations[0]));
  EXPECT_TRUE(nothing.unidentifiable.empty());
}

TEST(Uncertainty, NeedsDeviationsWhereThereAreAsManyDataAsVariables) {
  const FitSolution exact{MatrixXd::Identity(2, 2), 0, 2, false, {false, false}};
  EXPECT_THROW(estimate_uncertainty(exact), InputError);
  FitSolution with_deviations = exact;
  with_deviations.has_deviations = true;
  EXPECT_EQ(estimate_uncertainty(with_deviations).degrees_of_freedom, 0);
}

TEST(PhysicalInterval, StaysInTheRangeOfTheScale) {
  const auto modulus = physical_interval(std::log(2e5), 1.5, 2, [](double z) { return std::exp(z); });
  EXPECT_NEAR(modulus[0] / 2e5, std::exp(-3), 1e-12);
  EXPECT_NEAR(modulus[1] / 2e5, std::exp(3), 1e-11);
  const auto ratio = physical_interval(1, 4, 2, [](double z) { return 0.5 / (1 + std::exp(-z)); });
  EXPECT_GT(ratio[0], 0);
  EXPECT_LT(ratio[1], 0.5);
  const auto falling = physical_interval(1, 0.5, 2, [](double z) { return -z; });
  EXPECT_EQ(falling, (std::array<double, 2>{-2, 0}));
}

} // namespace
} // namespace recoil::inverse
