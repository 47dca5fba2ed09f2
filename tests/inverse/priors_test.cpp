#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "recoil/inverse/priors.hpp"
#include "recoil/inverse/uncertainty.hpp"

namespace recoil::inverse {
namespace {

using Eigen::MatrixXd;

const std::vector<Prior> priors{{2, 1.5, 0.25}, {0, -2, 4}, {2, 3, 10}};

TEST(Priors, AreResidualsInDeviations) {
  const std::vector<double> z{1, 2, 3};
  EXPECT_EQ(prior_residuals(z, priors), (std::vector<double>{6, 0.75, 0}));
}

TEST(Priors, AreRowsOfTheTriangularFactor) {
  std::srand(5);
  const MatrixXd J = MatrixXd::Random(9, 4);
  const MatrixXd R = J.householderQr().matrixQR().topRows(4).triangularView<Eigen::Upper>();
  MatrixXd all(12, 4);
  all << J, MatrixXd::Zero(3, 4);
  all(9, 2) = 1 / 0.25;
  all(10, 0) = 1.0 / 4;
  all(11, 2) = 1.0 / 10;
  const MatrixXd updated = append_priors(R, priors);
  EXPECT_TRUE(updated.isUpperTriangular(0));
  EXPECT_LE((updated.transpose() * updated - all.transpose() * all).norm(), 1e-13);
  EXPECT_EQ(append_priors(R, {}), R);
}

/// n measurements of one quantity and what was known of it: 1 / variance = n / sigma^2 + 1 / tau^2. A
/// parameter without any data has its prior.
TEST(Priors, GiveTheDeviationsOfBayes) {
  const double n = 20, sigma = 0.5, tau = 0.2;
  MatrixXd R = MatrixXd::Zero(2, 2);
  R(0, 0) = std::sqrt(n) / sigma;
  const std::vector<Prior> known{{0, 7, tau}, {1, 3, 0.7}};
  const Uncertainty found = estimate_uncertainty({append_priors(R, known), 0, 22, true, {false, false}});
  EXPECT_NEAR(found.deviations[0], 1 / std::sqrt(n / (sigma * sigma) + 1 / (tau * tau)), 1e-14);
  EXPECT_NEAR(found.deviations[1], 0.7, 1e-14);
  EXPECT_TRUE(found.unidentifiable.empty());
}

} // namespace
} // namespace recoil::inverse
