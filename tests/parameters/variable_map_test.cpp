#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "recoil/parameters/variable_map.hpp"

namespace recoil::parameters {
namespace {

/// Two of each kind.
VariableMap mixed() {
  VariableMap map;
  map.add({}, 2);
  map.add({&Scaling::multiple, 1e5}, 2);
  map.add({&Scaling::logarithm}, 2);
  map.add({.form = &Scaling::logit, .low = -1, .high = 0.5}, 2);
  return map;
}

std::vector<double> random(std::size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> distribution(-2, 2);
  std::vector<double> result(size);
  for (double& value : result) value = distribution(generator);
  return result;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(VariableMap, HasAVariablePerValue) {
  const VariableMap map = mixed();
  EXPECT_EQ(map.num_variables(), 8U);
  const auto x = random(8, 1), q = map.values(x);
  EXPECT_EQ(q[1], x[1]);
  EXPECT_EQ(q[2], 1e5 * x[2]);
  EXPECT_EQ(q[5], std::exp(x[5]));
}

TEST(VariableMap, ComesBackToItsVariables) {
  const VariableMap map = mixed();
  const auto x = random(8, 2), back = map.variables(map.values(x));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 1e-13);
}

TEST(VariableMap, ProductIsThatOfDifferences) {
  const VariableMap map = mixed();
  const auto x = random(8, 3), dx = random(8, 4);
  const auto product = map.product(x, dx);
  constexpr double h = 1e-5;
  auto plus = x, minus = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    plus[i] += h * dx[i];
    minus[i] -= h * dx[i];
  }
  const auto high = map.values(plus), low = map.values(minus);
  for (std::size_t i = 0; i < product.size(); ++i)
    EXPECT_NEAR((high[i] - low[i]) / (2 * h), product[i], 1e-8 * std::max(1.0, std::abs(product[i]))) << i;
}

TEST(VariableMap, TransposedProductIsTheTransposed) {
  const VariableMap map = mixed();
  for (unsigned seed = 0; seed < 10; ++seed) {
    const auto x = random(8, seed), dx = random(8, seed + 100), g = random(8, seed + 200);
    const double left = dot(g, map.product(x, dx)), right = dot(map.transposed_product(x, g), dx);
    EXPECT_NEAR(left, right, 1e-12 * std::abs(left));
  }
}

TEST(Scaling, LogitStaysBetweenItsBounds) {
  const Scaling scaling{.form = &Scaling::logit, .low = -1, .high = 0.5};
  for (const double x : {-800.0, -30.0, 0.0, 30.0, 800.0}) {
    EXPECT_GE(scaling.value(x), -1);
    EXPECT_LE(scaling.value(x), 0.5);
    EXPECT_TRUE(std::isfinite(scaling.slope(x))) << x;
  }
}

} // namespace
} // namespace recoil::parameters
