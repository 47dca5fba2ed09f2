#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/inverse/difference_check.hpp"

namespace recoil::inverse {
namespace {

TEST(ObjectiveNoise, OfRandomNoiseOnASmoothFunction) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> levels;
  for (int sample = 0; sample < 2000; ++sample) {
    std::vector<double> values;
    for (int i = 0; i < 7; ++i) values.push_back(3 + 1e-4 * i + 1e-9 * i * i + 1e-8 * normal(random));
    levels.push_back(noise_level(values));
  }
  std::ranges::sort(levels);
  EXPECT_GT(levels[100], 3e-9) << "95 % are above";
  EXPECT_NEAR(levels[1000], 1e-8, 3e-9);
  EXPECT_LT(levels[1900], 3e-8);
}

TEST(ObjectiveNoise, OfASmoothFunctionIsItsRounding) {
  std::vector<double> values;
  for (int i = 0; i < 7; ++i) values.push_back(std::exp(1e-7 * i));
  EXPECT_LT(noise_level(values), 1e-15);
  EXPECT_GE(noise_level(values), 2e-16);
}

TEST(ObjectiveNoise, OfAJump) {
  const std::vector<double> values{1, 1, 1, 1, 1 + 1e-9, 1 + 1e-9, 1 + 1e-9};
  EXPECT_GT(noise_level(values), 1e-10);
  EXPECT_LT(noise_level(values), 2e-9);
}

TEST(ObjectiveNoise, OfFewValuesIsTheirRounding) {
  EXPECT_EQ(noise_level(std::vector<double>{2, 5, -4}), 5 * std::numeric_limits<double>::epsilon());
  EXPECT_EQ(noise_level({}), 0);
}

} // namespace
} // namespace recoil::inverse
