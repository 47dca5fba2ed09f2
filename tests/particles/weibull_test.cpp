#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/particles/weibull.hpp"

namespace recoil::particles {

namespace {

constexpr int count = 200000;

std::vector<double> sample(double modulus, std::uint64_t seed) {
  std::vector<double> factors;
  for (int bond = 0; bond < count; ++bond) factors.push_back(weibull_factor(modulus, seed, bond));
  return factors;
}

/// Modulus and scale of largest likelihood: 1/m = sum(s^m ln s) / sum(s^m) - mean(ln s), by bisection.
std::pair<double, double> most_likely(const std::vector<double>& factors) {
  double mean_log = 0;
  for (const double s : factors) mean_log += std::log(s) / double(factors.size());
  double low = 0.1, high = 1000, powers = 0;
  while (high / low > 1 + 1e-12) {
    const double m = std::sqrt(low * high);
    double weighted = 0;
    powers = 0;
    for (const double s : factors) {
      powers += std::pow(s, m);
      weighted += std::pow(s, m) * std::log(s);
    }
    (weighted / powers - mean_log > 1 / m ? high : low) = m;
  }
  return {low, std::pow(powers / double(factors.size()), 1 / low)};
}

class Weibull : public ::testing::TestWithParam<double> {};

TEST_P(Weibull, HasItsMean) {
  const double m = GetParam();
  double mean = 0;
  for (const double s : sample(m, 3)) mean += s / count;
  const double expected = std::tgamma(1 + 1 / m),
               deviation = std::sqrt(std::tgamma(1 + 2 / m) - expected * expected);
  EXPECT_NEAR(mean, expected, 4 * deviation / std::sqrt(count));
}

// The asymptotic variances of the estimates are 6 m^2 / (pi^2 n) and (1 + 6 (1 - gamma)^2 / pi^2) / (m^2 n).
TEST_P(Weibull, HasModulusAndScaleOfLargestLikelihood) {
  const double m = GetParam();
  const auto [modulus, scale] = most_likely(sample(m, 4));
  const double share = 6 / (std::numbers::pi * std::numbers::pi), left = 1 - std::numbers::egamma;
  EXPECT_NEAR(modulus, m, 4 * m * std::sqrt(share / count));
  EXPECT_NEAR(scale, 1, 4 / m * std::sqrt((1 + share * left * left) / count));
}

// Kolmogorov and Smirnov: sup |F_n - F| sqrt(n) exceeds 1.95 with probability 1e-3.
TEST_P(Weibull, HasItsDistribution) {
  std::vector<double> factors = sample(GetParam(), 5);
  std::ranges::sort(factors);
  double largest = 0;
  for (int k = 0; k < count; ++k) {
    const double expected = -std::expm1(-std::pow(factors[k], GetParam()));
    largest =
        std::max({largest, std::abs(expected - double(k) / count), std::abs(expected - (k + 1.0) / count)});
  }
  EXPECT_LT(largest * std::sqrt(count), 1.95);
}

INSTANTIATE_TEST_SUITE_P(Moduli, Weibull, ::testing::Values(1.0, 3.0, 12.0));

TEST(Weibull, OfBondsAndSeedsAreIndependent) {
  const auto correlation = [](auto first, auto second) {
    const double mean = std::tgamma(1 + 1 / 3.0), variance = std::tgamma(1 + 2 / 3.0) - mean * mean;
    double sum = 0;
    for (int bond = 0; bond < count; ++bond) sum += (first(bond) - mean) * (second(bond) - mean);
    return sum / (count * variance);
  };
  const auto with_seed = [](std::uint64_t seed, int shift) {
    return [=](int bond) { return weibull_factor(3, seed, bond + shift); };
  };
  const double noise = 4 / std::sqrt(count);
  EXPECT_LT(std::abs(correlation(with_seed(0, 0), with_seed(0, 1))), noise);
  EXPECT_LT(std::abs(correlation(with_seed(0, 0), with_seed(1, 0))), noise);
  EXPECT_LT(std::abs(correlation(with_seed(0, 0), with_seed(1, 1))), noise);
  EXPECT_EQ(weibull_factor(3, 7, 5), weibull_factor(3, 7, 5));
}

} // namespace

} // namespace recoil::particles
