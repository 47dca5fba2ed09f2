#include "recoil/geometry/barrier.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

using recoil::geometry::BarrierValue;
using recoil::geometry::log_barrier;

namespace {

using Real = long double;

// The definitions, written naively in long double.
Real value(Real y, Real y_hat) { return -(y - y_hat) * (y - y_hat) * std::log(y / y_hat); }
Real first(Real y, Real y_hat) { return (y_hat - y) * (2.0L * std::log(y / y_hat) - y_hat / y + 1.0L); }
Real second(Real y, Real y_hat) {
  const Real r = y_hat / y;
  return (r + 2.0L) * r - 2.0L * std::log(y / y_hat) - 3.0L;
}

void expect_relative(double computed, Real exact, double tolerance) {
  EXPECT_LE(std::abs(static_cast<Real>(computed) - exact), tolerance * std::abs(exact)) << computed;
}

} // namespace

TEST(LogBarrier, AgreesWithItsDefinition) {
  for (double y_hat : {1e-12, 1e-3, 0.7, 40.0})
    for (double ratio = 1e-30; ratio < 0.999; ratio = std::min(ratio * 1.7, 0.5 * (1.0 + ratio))) {
      const double y = ratio * y_hat;
      const BarrierValue b = log_barrier(y, y_hat);
      expect_relative(b.value, value(y, y_hat), 2e-15);
      expect_relative(b.first, first(y, y_hat), 2e-15);
      // The naive second derivative itself cancels to (1 - ratio) of its terms.
      expect_relative(b.second, second(y, y_hat), 2e-15 + 1e-18 / (1.0 - ratio));
    }
}

TEST(LogBarrier, DerivativesAgreeWithDifferences) {
  const double y_hat = 1e-3;
  for (double y : {2e-5, 1e-4, 5e-4, 9e-4}) {
    const Real h = 1e-5L * y;
    const BarrierValue b = log_barrier(y, y_hat);
    expect_relative(b.first, (value(y + h, y_hat) - value(y - h, y_hat)) / (2 * h), 1e-8);
    expect_relative(b.second, (first(y + h, y_hat) - first(y - h, y_hat)) / (2 * h), 1e-8);
  }
}

// With delta = y_hat - y: b = delta^3/y_hat (1 + delta/(2 y_hat) + ..), b' = -3 delta^2/y_hat, b'' = 6
// delta/y_hat.
TEST(LogBarrier, IsAccurateWithinUlpsOfItsEnd) {
  const double y_hat = 1.1e-3;
  double y = y_hat;
  for (int ulps = 1; ulps <= 1000; ++ulps) {
    y = std::nextafter(y, 0.0);
    const Real delta = static_cast<Real>(y_hat) - static_cast<Real>(y);
    const BarrierValue b = log_barrier(y, y_hat);
    expect_relative(b.value, delta * delta * delta / y_hat, 1e-12);
    expect_relative(b.first, -3.0L * delta * delta / y_hat, 1e-12);
    expect_relative(b.second, 6.0L * delta / y_hat, 1e-12);
  }
}

TEST(LogBarrier, VanishesBeyondAndIsInfiniteInContact) {
  for (double y : {1e-3, 1.1e-3, 5.0}) {
    const BarrierValue b = log_barrier(y, 1e-3);
    EXPECT_EQ(b.value, 0.0);
    EXPECT_EQ(b.first, 0.0);
    EXPECT_EQ(b.second, 0.0);
  }
  for (double y : {0.0, -1e-300, -1.0})
    EXPECT_EQ(log_barrier(y, 1e-3).value, std::numeric_limits<double>::infinity());
  // A distance that is not a number must not look harmless.
  EXPECT_EQ(log_barrier(std::nan(""), 1e-3).value, std::numeric_limits<double>::infinity());
  const BarrierValue tiny = log_barrier(1e-18 * 1e-6, 1e-6);
  EXPECT_TRUE(std::isfinite(tiny.value) && std::isfinite(tiny.first) && std::isfinite(tiny.second));
}
