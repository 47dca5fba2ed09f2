#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/linalg/minimize_bounded.hpp"

namespace recoil::linalg::minimize_bounded_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Counts what the optimiser asks for.
struct Counted {
  BoundedFunction function;
  int values = 0, gradients = 0;
};

/// Rosenbrock's function of n variables, whose minimum 0 is at (1, .., 1), with its variables multiplied by
/// `unit`.
void rosenbrock(int n, double unit, Counted& counted) {
  counted.function = {std::vector<double>(n, -infinity), std::vector<double>(n, infinity),
                      [&counted, unit](std::span<const double> x) {
                        ++counted.values;
                        double sum = 0;
                        for (std::size_t i = 0; i + 1 < x.size(); ++i) {
                          const double a = x[i] / unit, b = x[i + 1] / unit;
                          sum += 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
                        }
                        return sum;
                      },
                      [&counted, unit](std::span<const double> x, std::span<double> g) {
                        ++counted.gradients;
                        std::ranges::fill(g, 0.0);
                        for (std::size_t i = 0; i + 1 < x.size(); ++i) {
                          const double a = x[i] / unit, b = x[i + 1] / unit;
                          g[i] += (-400 * a * (b - a * a) - 2 * (1 - a)) / unit;
                          g[i + 1] += 200 * (b - a * a) / unit;
                        }
                      }};
}

std::string stop_at(const Iterate& at, double tolerance) {
  if (at.gradient_norm <= tolerance) return "gradient";
  return at.iteration >= 500 ? "iterations" : "";
}

void expect_minimum_of_rosenbrock(int n, double unit, int most_evaluations) {
  Counted counted;
  rosenbrock(n, unit, counted);
  std::vector<double> start(n, -1.2 * unit);
  for (int i = 1; i < n; i += 2) start[i] = unit;
  const BoundedMinimum found =
      minimize_bounded(counted.function, start, DescentMethod::quasi_newton,
                       [unit](const Iterate& at) { return stop_at(at, 1e-8 / unit); });
  EXPECT_EQ(found.reason, "gradient");
  EXPECT_TRUE(found.is_asked);
  for (const double x : found.x) EXPECT_NEAR(x / unit, 1, 1e-7);
  EXPECT_LE(counted.values, most_evaluations);
  EXPECT_LE(counted.gradients, counted.values);
}

TEST(MinimizeBounded, FindsTheMinimumOfRosenbrocksFunctionInAnyUnit) {
  for (const double unit : {1e-6, 1.0, 1e5}) expect_minimum_of_rosenbrock(2, unit, 80);
  expect_minimum_of_rosenbrock(20, 1, 300);
}

/// sum_i i (x_i - 1)^2 + (sum_i (x_i - 1))^4 of ten variables.
TEST(MinimizeBounded, FindsMinimaByConjugateGradients) {
  int values = 0;
  const auto sum_of = [](std::span<const double> x) {
    return std::accumulate(x.begin(), x.end(), -static_cast<double>(x.size()));
  };
  const BoundedFunction function{std::vector<double>(10, -infinity), std::vector<double>(10, infinity),
                                 [&](std::span<const double> x) {
                                   ++values;
                                   double f = std::pow(sum_of(x), 4);
                                   for (std::size_t i = 0; i < x.size(); ++i)
                                     f += (i + 1) * (x[i] - 1) * (x[i] - 1);
                                   return f;
                                 },
                                 [&](std::span<const double> x, std::span<double> g) {
                                   const double cube = 4 * std::pow(sum_of(x), 3);
                                   for (std::size_t i = 0; i < x.size(); ++i)
                                     g[i] = cube + 2 * (i + 1) * (x[i] - 1);
                                 }};
  const BoundedMinimum found =
      minimize_bounded(function, std::vector<double>(10, -2), DescentMethod::conjugate_gradients,
                       [](const Iterate& at) { return stop_at(at, 1e-8); });
  EXPECT_EQ(found.reason, "gradient");
  for (const double x : found.x) EXPECT_NEAR(x, 1, 1e-8);
  EXPECT_LE(values, 200);
}

/// (x - 3)^2 + (y + 2)^2 + x y over [0, 1] x [-1, 5]: the minimum is at the corner (1, -1), where both
/// components of the gradient point out.
TEST(MinimizeBounded, StaysBetweenTheBounds) {
  const BoundedFunction function{{0, -1},
                                 {1, 5},
                                 [](std::span<const double> x) {
                                   EXPECT_TRUE(x[0] >= 0 && x[0] <= 1 && x[1] >= -1 && x[1] <= 5);
                                   return (x[0] - 3) * (x[0] - 3) + (x[1] + 2) * (x[1] + 2) + x[0] * x[1];
                                 },
                                 [](std::span<const double> x, std::span<double> g) {
                                   g[0] = 2 * (x[0] - 3) + x[1];
                                   g[1] = 2 * (x[1] + 2) + x[0];
                                 }};
  for (const DescentMethod method : {DescentMethod::quasi_newton, DescentMethod::conjugate_gradients}) {
    const BoundedMinimum found =
        minimize_bounded(function, {-7, 9}, method, [](const Iterate& at) { return stop_at(at, 1e-9); });
    EXPECT_EQ(found.reason, "gradient");
    EXPECT_DOUBLE_EQ(found.x[0], 1);
    EXPECT_DOUBLE_EQ(found.x[1], -1);
  }
}

/// The minimum of x^4 - x at 4^(-1/3) = 0.63 lies close to where the function ends.
TEST(MinimizeBounded, TakesShorterStepsWhereTheFunctionIsInfinite) {
  for (const DescentMethod method : {DescentMethod::quasi_newton, DescentMethod::conjugate_gradients}) {
    int rejected = 0;
    const BoundedFunction function{{-infinity},
                                   {infinity},
                                   [&](std::span<const double> x) {
                                     rejected += x[0] > 0.65;
                                     return x[0] > 0.65 ? infinity : std::pow(x[0], 4) - x[0];
                                   },
                                   [](std::span<const double> x, std::span<double> g) {
                                     EXPECT_LE(x[0], 0.65);
                                     g[0] = 4 * std::pow(x[0], 3) - 1;
                                   }};
    const BoundedMinimum found =
        minimize_bounded(function, {-1}, method, [](const Iterate& at) { return stop_at(at, 1e-9); });
    EXPECT_EQ(found.reason, "gradient");
    EXPECT_NEAR(found.x[0], std::cbrt(0.25), 1e-9);
    EXPECT_GT(rejected, 0);
  }
}

TEST(MinimizeBounded, ShowsEveryIterateAndEndsWhereItIsAsked) {
  Counted counted;
  rosenbrock(2, 1, counted);
  std::vector<double> values, previous;
  const BoundedMinimum found =
      minimize_bounded(counted.function, {-1.2, 1}, DescentMethod::quasi_newton, [&](const Iterate& at) {
        EXPECT_EQ(at.iteration, std::ssize(values));
        if (!values.empty()) {
          EXPECT_LT(at.value, values.back());
          EXPECT_NEAR(at.step, std::hypot(at.x[0] - previous[0], at.x[1] - previous[1]), 1e-15);
        }
        values.push_back(at.value);
        previous.assign(at.x.begin(), at.x.end());
        return std::string(at.iteration == 7 ? "enough" : "");
      });
  EXPECT_EQ(values.size(), 8);
  EXPECT_EQ(found.reason, "enough");
  EXPECT_EQ(found.x, previous);
  EXPECT_EQ(found.value, values.back());
}

TEST(MinimizeBounded, HandsOnWhatTheFunctionThrows) {
  Counted counted;
  rosenbrock(2, 1, counted);
  BoundedFunction failing = counted.function;
  failing.value = [&](std::span<const double> x) {
    if (counted.values == 5) throw FileError("the disk is full");
    return counted.function.value(x);
  };
  EXPECT_THROW(minimize_bounded(failing, {-1.2, 1}, DescentMethod::quasi_newton,
                                [](const Iterate&) { return std::string(); }),
               FileError);
  failing.value = [](std::span<const double>) { return infinity; };
  EXPECT_THROW(minimize_bounded(failing, {-1.2, 1}, DescentMethod::quasi_newton,
                                [](const Iterate&) { return std::string(); }),
               InputError);
}

/// With a wrong gradient no step makes the function smaller.
TEST(MinimizeBounded, SaysWhyItEndsByItself) {
  const BoundedFunction function{{-infinity},
                                 {infinity},
                                 [](std::span<const double> x) { return x[0] * x[0]; },
                                 [](std::span<const double> x, std::span<double> g) { g[0] = -2 * x[0]; }};
  const BoundedMinimum found = minimize_bounded(function, {1}, DescentMethod::quasi_newton,
                                                [](const Iterate&) { return std::string(); });
  EXPECT_FALSE(found.is_asked);
  EXPECT_NE(found.reason.find("no step along the search direction"), std::string::npos) << found.reason;
  EXPECT_EQ(found.x[0], 1);
}

} // namespace
} // namespace recoil::linalg::minimize_bounded_test
