#include <cmath>
#include <map>

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

TEST(ChiSquared, HasFarTails) {
  for (const std::size_t degrees : {10, 5000, 2000000}) {
    EXPECT_LT(chi_squared_p_value(1e-25, degrees), 1e-100) << degrees;
    EXPECT_EQ(chi_squared_p_value(1e12, degrees), 0) << degrees;
    EXPECT_NEAR(chi_squared_p_value(static_cast<double>(degrees), degrees), 1, 0.3) << degrees;
  }
}

} // namespace
} // namespace recoil::inverse
