#include <cmath>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "inverse/strip_mesh.hpp"
#include "recoil/inverse/priors.hpp"
#include "recoil/inverse/uncertainty.hpp"

namespace recoil::inverse {
namespace {

using Eigen::MatrixXd;

TEST(Priors, AreResidualsInDeviations) {
  const GaussianPrior prior(3, {{2, 1.5, 0.25}, {0, -2, 4}}, {});
  EXPECT_EQ(prior.residuals(std::vector<double>{1, 2, 3}), (std::vector<double>{6, 0.75}));
  EXPECT_FALSE(prior.is_proper());
}

/// n measurements of one quantity and what was known of it: 1 / variance = n / sigma^2 + 1 / tau^2. A
/// parameter without any data has its prior.
TEST(Priors, GiveTheDeviationsOfBayes) {
  const double n = 20, sigma = 0.5, tau = 0.2;
  const GaussianPrior prior(2, {{0, 7, tau}, {1, 3, 0.7}}, {});
  MatrixXd rows = MatrixXd::Zero(3, 2);
  rows(0, 0) = std::sqrt(n) / sigma;
  rows.bottomRows(2) = matrix_of(2, [&](const auto& d) { return prior.whiten(d); });
  const MatrixXd R = rows.householderQr().matrixQR().topRows(2).triangularView<Eigen::Upper>();
  const Uncertainty found = estimate_uncertainty({R, 0, 22, true, {false, false}});
  EXPECT_NEAR(found.deviations[0], 1 / std::sqrt(n / (sigma * sigma) + 1 / (tau * tau)), 1e-14);
  EXPECT_NEAR(found.deviations[1], 0.7, 1e-14);
  EXPECT_TRUE(found.unidentifiable.empty());
}

TEST(Priors, JoinsFieldsAndSingleVariables) {
  const FieldPrior field(strip_mesh(2, {3, 2}), 1, 0.5);
  const std::size_t m = field.size(), n = m + 2;
  // Variable 0 alone, the field, the last one unknown.
  const GaussianPrior unknown(n, {{0, 3, 0.2}}, {{1, 7, field}});
  EXPECT_FALSE(unknown.is_proper());
  const GaussianPrior prior(n, {{0, 3, 0.2}, {n - 1, -1, 4}}, {{1, 7, field}});
  ASSERT_TRUE(prior.is_proper());
  std::vector<double> z(n, 7.0);
  z[0] = 3.4;
  z[n - 1] = -1;
  z[2] = 8;
  const std::vector<double> r = prior.residuals(z);
  EXPECT_NEAR(r[0], 2, 1e-12);
  EXPECT_EQ(r[1], 0);
  std::vector<double> away(m, 0.0);
  away[1] = 1;
  const std::vector<double> of_field = field.whiten(away);
  for (std::size_t i = 0; i < m; ++i) EXPECT_NEAR(r[2 + i], of_field[i], 1e-12);

  const MatrixXd W = matrix_of(n, [&](const auto& d) { return prior.whiten(d); });
  const MatrixXd covariance = (W.transpose() * W).inverse();
  EXPECT_LE((matrix_of(n, [&](const auto& y) { return prior.whiten_transposed(y); }) - W.transpose()).norm(),
            1e-12 * W.norm());
  EXPECT_LE(
      (matrix_of(n, [&](const auto& y) { return prior.colour(y); }) * W - MatrixXd::Identity(n, n)).norm(),
      1e-10);
  EXPECT_LE((matrix_of(n, [&](const auto& p) { return prior.precondition(p); }) - covariance).norm(),
            1e-10 * covariance.norm());
  EXPECT_NEAR(prior.variances()[0], 0.04, 1e-15);
  EXPECT_NEAR(prior.variances()[3], covariance(3, 3), 1e-10);
  EXPECT_NEAR(unknown.precondition(z)[n - 1], -1, 1e-15);
}

} // namespace
} // namespace recoil::inverse
