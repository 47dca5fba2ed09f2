#include "recoil/inverse/deviation_factors.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "recoil/inverse/residual_factor.hpp"

namespace recoil::inverse {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Linear models y_k = A_k x with noise s_k.
class LinearGroups {
public:
  LinearGroups(std::vector<int> rows, int n, int seed) : bits_(seed), n_(n) {
    for (const int m : rows) A_.push_back(normal(m, n));
  }
  MatrixXd normal(int rows, int columns) {
    std::normal_distribution<double> of_one;
    MatrixXd M(rows, columns);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) M(i, j) = of_one(bits_);
    return M;
  }
  void draw(const std::vector<double>& s) {
    y_.clear();
    for (std::size_t k = 0; k < A_.size(); ++k)
      y_.emplace_back(s[k] * normal(static_cast<int>(A_[k].rows()), 1));
  }
  /// The least squares with these deviations.
  VectorXd fit(const std::vector<double>& s) const {
    MatrixXd H = MatrixXd::Zero(n_, n_);
    VectorXd b = VectorXd::Zero(n_);
    for (std::size_t k = 0; k < A_.size(); ++k) {
      H += A_[k].transpose() * A_[k] / (s[k] * s[k]);
      b += A_[k].transpose() * y_[k] / (s[k] * s[k]);
    }
    return H.ldlt().solve(b);
  }
  std::vector<DeviationGroup> at(const VectorXd& x) const {
    std::vector<DeviationGroup> groups;
    for (std::size_t k = 0; k < A_.size(); ++k) {
      MatrixXd rows(A_[k].rows(), n_ + 1);
      rows << A_[k], A_[k] * x - y_[k];
      groups.push_back({triangular_factor(rows), static_cast<double>(A_[k].rows())});
    }
    return groups;
  }
  /// Minus twice the logarithm of the restricted likelihood [Harville 1977, J. Am. Stat. Assoc. 72, 320].
  double restricted_deviance(const std::vector<double>& s) const {
    const VectorXd x = fit(s);
    MatrixXd H = MatrixXd::Zero(n_, n_);
    double sum = 0;
    for (std::size_t k = 0; k < A_.size(); ++k) {
      H += A_[k].transpose() * A_[k] / (s[k] * s[k]);
      sum += (A_[k] * x - y_[k]).squaredNorm() / (s[k] * s[k]) +
             2 * static_cast<double>(A_[k].rows()) * std::log(s[k]);
    }
    return sum + std::log(H.determinant());
  }

private:
  std::mt19937 bits_;
  int n_;
  std::vector<MatrixXd> A_;
  std::vector<VectorXd> y_;
};

const MatrixXd nothing(0, 4);

TEST(DeviationFactors, OneGroupHasTheVarianceOfTheResiduals) {
  LinearGroups data({12}, 3, 1);
  data.draw({0.7});
  const auto groups = data.at(data.fit({1}));
  const DeviationFactors found = estimate_deviation_factors(groups, nothing, {false, false, false});
  EXPECT_NEAR(found.values[0], groups[0].factor.col(3).norm() / 3, 1e-12);
  EXPECT_NEAR(found.degrees_of_freedom[0], 9, 1e-12);
  EXPECT_NEAR(found.of_variables, 9, 1e-10);
  // A step of q deviations in one variable, the others following, raises |r|^2 by (q s)^2.
  EXPECT_NEAR(deviance_rise(found, 1, 2), 12 * std::log(1 + 4.0 / 9), 1e-10);
  EXPECT_NEAR(estimate_deviation_factors(groups, nothing, {true, true, true}).degrees_of_freedom[0], 12, 0);
}

/// Alternating with the fit they are the maximum of the restricted likelihood.
TEST(DeviationFactors, FixedPointIsOfTheRestrictedLikelihood) {
  LinearGroups data({9, 14, 30}, 3, 2);
  data.draw({0.5, 2, 10});
  std::vector<double> s{1, 1, 1};
  DeviationFactors found;
  for (int i = 0; i < 200; ++i) {
    found = estimate_deviation_factors(data.at(data.fit(s)), nothing, {false, false, false});
    s = found.values;
  }
  double freedom = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    auto more = s, less = s;
    more[k] *= 1.001;
    less[k] /= 1.001;
    const double least = data.restricted_deviance(s);
    EXPECT_GT(data.restricted_deviance(more), least);
    EXPECT_GT(data.restricted_deviance(less), least);
    freedom += found.degrees_of_freedom[k];
  }
  EXPECT_NEAR(freedom, 9 + 14 + 30 - 3, 1e-9);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.shares.row(i).sum(), 1, 1e-9);
    double inverse = 0;
    for (int k = 0; k < 3; ++k) inverse += std::pow(found.shares(i, k), 2) / found.degrees_of_freedom[k];
    EXPECT_LE(found.of_variables, (1 + 1e-12) / inverse);
  }
}

/// Data in stated deviations, or a prior, take their part of the variables.
TEST(DeviationFactors, KnownDataTakeDegreesOfFreedom) {
  LinearGroups data({8}, 3, 3);
  data.draw({1});
  const auto groups = data.at(VectorXd::Zero(3));
  MatrixXd exact = MatrixXd::Zero(3, 4);
  exact.leftCols(3) = 1e9 * MatrixXd::Identity(3, 3);
  const DeviationFactors found = estimate_deviation_factors(groups, exact, {false, false, false});
  EXPECT_NEAR(found.degrees_of_freedom[0], 8, 1e-9);
  EXPECT_NEAR(found.values[0], groups[0].factor.col(3).norm() / std::sqrt(8), 1e-9);
}

/// A variable that no datum sees, and a unit of another size, change nothing.
TEST(DeviationFactors, UnitsAndUnseenVariablesDoNotMatter) {
  LinearGroups data({7, 11}, 3, 4);
  data.draw({1, 3});
  auto groups = data.at(data.fit({1, 3}));
  const DeviationFactors before = estimate_deviation_factors(groups, nothing, {false, false, false});
  for (DeviationGroup& group : groups) {
    MatrixXd wider = MatrixXd::Zero(5, 5);
    wider.topRows(4) << 1e8 * group.factor.col(0), group.factor.middleCols(1, 2), VectorXd::Zero(4),
        group.factor.col(3);
    group.factor = wider;
  }
  const DeviationFactors after =
      estimate_deviation_factors(groups, MatrixXd(0, 5), {false, false, false, false});
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(after.values[k] / before.values[k], 1, 1e-10);
  EXPECT_NEAR(after.of_variables / before.of_variables, 1, 1e-6);
}

/// Squares are those of the truth on average, which chi^2 / m are not.
TEST(DeviationFactors, AreUnbiased) {
  LinearGroups data({6, 10}, 3, 5);
  double first = 0, second = 0;
  constexpr int draws = 4000;
  for (int i = 0; i < draws; ++i) {
    data.draw({1, 5});
    const auto found = estimate_deviation_factors(data.at(data.fit({1, 5})), nothing, {false, false, false});
    first += found.values[0] * found.values[0] / draws;
    second += found.values[1] * found.values[1] / draws / 25;
  }
  EXPECT_NEAR(first, 1, 0.05);
  EXPECT_NEAR(second, 1, 0.05);
}

TEST(ConcentratedDeviance, IsTheLeastOverTheFactor) {
  const double chi_squared = 37, data = 9, s = std::sqrt(chi_squared / data);
  const auto deviance = [&](double of) { return 2 * data * std::log(of) + chi_squared / (of * of); };
  EXPECT_NEAR(concentrated_deviance(chi_squared, data), deviance(s), 1e-12);
  EXPECT_LT(deviance(s), deviance(1.01 * s));
  EXPECT_LT(deviance(s), deviance(0.99 * s));
  const double slope = (concentrated_deviance(37.001, data) - concentrated_deviance(36.999, data)) / 0.002;
  EXPECT_NEAR(slope, 1 / (s * s), 1e-7);
}

} // namespace
} // namespace recoil::inverse
