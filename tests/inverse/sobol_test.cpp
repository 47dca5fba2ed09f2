#include <cmath>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/inverse/sobol.hpp"

namespace recoil::inverse {
namespace {

TEST(SobolPoints, HaveOneInEveryPartOfEveryAxis) {
  for (const std::uint64_t seed : {0, 1, 42}) {
    for (const std::size_t count : {1, 2, 8, 64, 1024}) {
      const auto points = sobol_points(count, 64, seed);
      ASSERT_EQ(points.size(), count);
      for (std::size_t axis = 0; axis < 64; ++axis) {
        std::set<int> parts;
        for (const auto& point : points) {
          EXPECT_TRUE(point[axis] > 0 && point[axis] < 1);
          parts.insert(static_cast<int>(point[axis] * static_cast<double>(count)));
        }
        EXPECT_EQ(parts.size(), count);
      }
    }
  }
}

/// The first two axes are a (0, m, 2)-net: 2^m points have one in every box of 2^-i times 2^-(m - i).
TEST(SobolPoints, AreANetInThePlane) {
  constexpr int m = 8;
  const auto points = sobol_points(1 << m, 2, 7);
  for (int i = 0; i <= m; ++i) {
    std::set<std::pair<int, int>> boxes;
    for (const auto& point : points)
      boxes.emplace(static_cast<int>(std::ldexp(point[0], i)), static_cast<int>(std::ldexp(point[1], m - i)));
    EXPECT_EQ(boxes.size(), points.size());
  }
}

/// Without the shift: the first points that Joe and Kuo publish with their direction numbers.
TEST(SobolPoints, AreThoseOfJoeAndKuo) {
  const std::vector<std::vector<double>> published{{0, 0, 0},
                                                   {0.5, 0.5, 0.5},
                                                   {0.75, 0.25, 0.25},
                                                   {0.25, 0.75, 0.75},
                                                   {0.375, 0.375, 0.625},
                                                   {0.875, 0.875, 0.125},
                                                   {0.625, 0.125, 0.875},
                                                   {0.125, 0.625, 0.375}};
  const auto bits = [](double x) { return static_cast<std::uint64_t>(std::ldexp(x, 52)); };
  const auto points = sobol_points(published.size(), 3, 11);
  for (std::size_t i = 0; i < published.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(bits(points[i][k]) ^ bits(points[0][k]), bits(published[i][k]));
}

TEST(SobolPoints, AreRepeatableBySeed) {
  EXPECT_EQ(sobol_points(100, 5, 3), sobol_points(100, 5, 3));
  EXPECT_NE(sobol_points(100, 5, 3), sobol_points(100, 5, 4));
  const auto more = sobol_points(200, 5, 3);
  EXPECT_EQ(std::vector(more.begin(), more.begin() + 100), sobol_points(100, 5, 3));
  EXPECT_TRUE(sobol_points(0, 5, 3).empty());
}

/// prod_k (1 + (x_k - 1/2) / 2) over ten axes has the integral 1. Random points: 0.011 is one deviation.
TEST(SobolPoints, IntegrateFarBetterThanRandomOnes) {
  double squares = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    double sum = 0;
    for (const auto& point : sobol_points(4096, 10, seed)) {
      double product = 1;
      for (const double x : point) product *= 1 + (x - 0.5) / 2;
      sum += product;
    }
    squares += std::pow(sum / 4096 - 1, 2) / 20;
  }
  const double random = std::sqrt((std::pow(1 + 1.0 / 48, 10) - 1) / 4096);
  EXPECT_LT(std::sqrt(squares), random / 10);
}

TEST(SobolPoints, HaveOneTo64Dimensions) {
  EXPECT_THROW(sobol_points(1, 0, 0), InputError);
  EXPECT_THROW(sobol_points(1, 65, 0), InputError);
}

} // namespace
} // namespace recoil::inverse
