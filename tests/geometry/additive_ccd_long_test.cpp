#include <cstdio>

#include <gtest/gtest.h>

#include "geometry/ccd_queries.hpp"

using recoil::test::CcdSummary;

namespace {

void expect_good(const CcdSummary& summary, const char* name) {
  std::printf("%s\n", summary.line(name).c_str());
  EXPECT_EQ(summary.late, 0);
  EXPECT_EQ(summary.thin, 0);
  EXPECT_LE(summary.undecided, summary.queries / 100);
}

} // namespace

TEST(AdditiveCcdLong, TenMillionRandomQueries) {
  const CcdSummary space = recoil::test::check_random_queries<3>(7000000, 101);
  const CcdSummary plane = recoil::test::check_random_queries<2>(3000000, 102);
  expect_good(space, "3D random");
  expect_good(plane, "2D random");
  EXPECT_GE(space.mean_ratio(), 0.8);
  EXPECT_GE(plane.mean_ratio(), 0.8);
}

TEST(AdditiveCcdLong, HundredThousandDegenerateQueries) {
  expect_good(recoil::test::check_degenerate_queries<3>(70000, 103), "3D degenerate");
  expect_good(recoil::test::check_degenerate_queries<2>(30000, 104), "2D degenerate");
}
