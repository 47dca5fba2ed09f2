#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/inverse/fit_statistics.hpp"

namespace recoil::inverse {
namespace {

/// Table values with the digits that tables have.
TEST(FitStatistics, KnowsTheQuantilesOfTables) {
  EXPECT_NEAR(normal_quantile(), 1.959964, 5e-7);
  const std::map<std::size_t, double> table{{1, 12.7062}, {2, 4.3027},  {5, 2.5706},
                                            {10, 2.2281}, {30, 2.0423}, {100, 1.9840}};
  for (const auto& [degrees, quantile] : table) EXPECT_NEAR(student_quantile(degrees), quantile, 5e-5);
  EXPECT_NEAR(student_quantile(1), std::tan(0.475 * M_PI), 1e-11);             // Cauchy's distribution
  EXPECT_NEAR(student_quantile(2), 0.95 * std::sqrt(2 / (1 - 0.9025)), 1e-12); // closed form, too
  EXPECT_NEAR(student_quantile(100000000), normal_quantile(), 1e-7);
}

/// Of two degrees of freedom chi^2 is distributed exponentially.
TEST(FitStatistics, FindsFitsThatAreTooBadAndTooGood) {
  EXPECT_NEAR(chi_squared_p_value(6, 2), 2 * std::exp(-3), 1e-15);
  EXPECT_NEAR(chi_squared_p_value(0.01, 2), -2 * std::expm1(-0.005), 1e-15);
  EXPECT_NEAR(chi_squared_p_value(18.307, 10), 0.1, 2e-5); // tables: 5 % above
  EXPECT_NEAR(chi_squared_p_value(3.940, 10), 0.1, 1e-4);  // tables: 5 % below
  EXPECT_LT(chi_squared_p_value(200, 100), 1e-7);
  EXPECT_LT(chi_squared_p_value(50, 100), 1e-4);
}

TEST(RunsTest, CountsSigns) {
  const RunsTest test = runs_test(std::vector<double>{1, 2, 0, 3, -1, -2, 0, 0, 4, -1});
  EXPECT_EQ(test.positive, 4);
  EXPECT_EQ(test.negative, 3);
  EXPECT_EQ(test.runs, 4);
  EXPECT_EQ(runs_test({}).runs, 0);
  const RunsTest one_sign = runs_test(std::vector<double>{1, 2, 3});
  EXPECT_EQ(one_sign.runs, 1);
  EXPECT_EQ(one_sign.p_value, 1);
}

/// Every order of `positive` and `negative` signs is as likely: counted.
void expect_exact(int positive, int negative) {
  std::vector<double> signs(negative, -1.0);
  signs.resize(negative + positive, 1.0);
  std::map<std::size_t, double> counts;
  std::map<std::size_t, double> p_values;
  double all = 0;
  do {
    const RunsTest test = runs_test(signs);
    ++counts[test.runs];
    ++all;
    p_values[test.runs] = test.p_value;
  } while (std::ranges::next_permutation(signs).found);
  for (const auto& [runs, p_value] : p_values) {
    double at_most = 0, at_least = 0;
    for (const auto& [other, count] : counts) {
      if (other <= runs) at_most += count / all;
      if (other >= runs) at_least += count / all;
    }
    EXPECT_NEAR(p_value, std::min(1.0, 2 * std::min(at_most, at_least)), 1e-12);
  }
}

TEST(RunsTest, HasTheExactDistribution) {
  expect_exact(2, 2);
  expect_exact(5, 4);
  expect_exact(3, 9);
  expect_exact(1, 6);
}

TEST(RunsTest, TellsSystematicResidualsFromNoise) {
  std::vector<double> slow(200), alternating(200);
  for (int i = 0; i < 200; ++i) {
    slow[i] = std::sin(0.1 * i + 0.05);
    alternating[i] = i % 2 == 0 ? 1 : -1;
  }
  EXPECT_LT(runs_test(slow).p_value, 1e-20);
  EXPECT_LT(runs_test(alternating).p_value, 1e-20);

  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  int rejected = 0;
  for (int repetition = 0; repetition < 1000; ++repetition) {
    std::vector<double> noise(200);
    for (double& r : noise) r = normal(random);
    rejected += runs_test(noise).p_value < 0.05;
  }
  EXPECT_LE(rejected, 65);
  EXPECT_GE(rejected, 25);
}

TEST(ChiSquared, HasFarTails) {
  for (const std::size_t degrees : {10, 5000, 2000000}) {
    EXPECT_LT(chi_squared_p_value(1e-25, degrees), 1e-100) << degrees;
    EXPECT_EQ(chi_squared_p_value(1e12, degrees), 0) << degrees;
    EXPECT_NEAR(chi_squared_p_value(static_cast<double>(degrees), degrees), 1, 0.3) << degrees;
  }
}

} // namespace
} // namespace recoil::inverse
