#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/stepping/step_record.hpp"

namespace recoil::stepping {
namespace {

// u + sum a_j u(-j) - b u'(0) for u = t^k, steps of length 1 that end at 0.
double defect(const StepCoefficients& c, int k) {
  double sum = k == 0 ? 1 : 0;
  for (int j = 1; j <= c.order; ++j) sum += c.a[static_cast<std::size_t>(j - 1)] * std::pow(-j, k);
  return sum - (k == 1 ? c.b : 0);
}

TEST(Bdf, OrderConditions) {
  for (int m = 1; m <= max_bdf_order; ++m) {
    const StepCoefficients c = bdf_coefficients(m);
    EXPECT_EQ(c.order, m);
    for (int k = 0; k <= m; ++k)
      EXPECT_NEAR(defect(c, k), 0, 3e-16 * std::pow(m, k + 1)) << "BDF" << m << ", t^" << k;
    EXPECT_GT(std::abs(defect(c, m + 1)), 0.1);
    for (std::size_t j = static_cast<std::size_t>(m); j < c.a.size(); ++j) EXPECT_EQ(c.a[j], 0);
  }
}

TEST(Bdf, FirstOrderIsImplicitEuler) {
  const StepCoefficients c = bdf_coefficients(1);
  EXPECT_EQ(c.a[0], -1);
  EXPECT_EQ(c.b, 1);
  EXPECT_EQ(c.scaled_dt(0.25), 0.25);
  EXPECT_EQ(bdf_coefficients(2).scaled_dt(0.3), 2.0 / 3 * 0.3);
}

TEST(Bdf, WithoutInertiaTheScaleIsOne) {
  EXPECT_EQ(StepCoefficients{}.order, 0);
  EXPECT_EQ(StepCoefficients{}.scaled_dt(0.25), 1);
}

// Perturbations of the starting values stay bounded: u_i = -sum a_j u_{i-j}.
TEST(Bdf, ZeroStability) {
  for (int m = 1; m <= max_bdf_order; ++m) {
    const StepCoefficients c = bdf_coefficients(m);
    for (int start = 0; start < m; ++start) {
      std::array<double, max_bdf_order> past{};
      past[static_cast<std::size_t>(start)] = 1;
      double largest = 0;
      for (int i = 0; i < 2000; ++i) {
        double next = 0;
        for (std::size_t j = 0; j < past.size(); ++j) next -= c.a[j] * past[j];
        std::copy_backward(past.begin(), past.end() - 1, past.end());
        past[0] = next;
        largest = std::max(largest, std::abs(next));
      }
      EXPECT_LT(largest, 20) << "BDF" << m;
    }
  }
}

TEST(Bdf, WrongOrders) {
  for (const int order : {-1, 0, 7}) EXPECT_THROW(bdf_coefficients(order), InputError);
  try {
    bdf_coefficients(7);
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("BDF order 7"), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace recoil::stepping
