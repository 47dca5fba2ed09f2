#include "recoil/geometry/adhesion.hpp"

#include <gtest/gtest.h>

namespace recoil::geometry {
namespace {

TEST(Adhesion, DerivativesAgreeWithDifferences) {
  for (const auto& [peak, reach] : {std::pair{1e-3, 2e-3}, {1e-3, 0.1}, {0.3, 0.31}})
    for (const double share : {1e-6, 0.2, 0.9, 0.999, 1.001, 1.01}) {
      const double y = share * peak, h = 1e-7 * peak;
      const BarrierValue a = adhesion(y, peak, reach);
      const double first =
                       (adhesion(y + h, peak, reach).value - adhesion(y - h, peak, reach).value) / (2 * h),
                   second =
                       (adhesion(y + h, peak, reach).first - adhesion(y - h, peak, reach).first) / (2 * h);
      EXPECT_NEAR(a.first, first, 1e-6) << y;
      EXPECT_NEAR(a.second * peak, second * peak, 1e-6 * peak * std::abs(a.second)) << y;
    }
}

TEST(Adhesion, PullsMostAtThePeak) {
  const double peak = 2e-3, reach = 5e-3;
  EXPECT_DOUBLE_EQ(adhesion(peak, peak, reach).first, 1);
  double before = adhesion(0, peak, reach).value, work = 0;
  EXPECT_DOUBLE_EQ(before, -reach / 2);
  for (int i = 1; i <= 1000; ++i) {
    const double y = reach * i / 1000;
    const BarrierValue a = adhesion(y, peak, reach);
    EXPECT_LE(a.first, 1);
    EXPECT_GE(a.first, 0);
    EXPECT_GT(a.value, before);
    work += a.value - before;
    before = a.value;
  }
  EXPECT_NEAR(work, reach / 2, 1e-15);
}

TEST(Adhesion, IsContinuousAndEnds) {
  const double peak = 1e-3, reach = 4e-3, h = 1e-15;
  for (const double y : {peak, reach}) {
    const BarrierValue below = adhesion(y - h, peak, reach), above = adhesion(y + h, peak, reach);
    EXPECT_NEAR(below.value, above.value, 3 * h);
    EXPECT_NEAR(below.first, above.first, 3e-12);
  }
  for (const double y : {reach, 2 * reach}) {
    const BarrierValue a = adhesion(y, peak, reach);
    EXPECT_EQ(a.value, 0);
    EXPECT_EQ(a.first, 0);
    EXPECT_EQ(a.second, 0);
  }
}

} // namespace
} // namespace recoil::geometry
