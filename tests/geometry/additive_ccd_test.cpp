#include "recoil/geometry/additive_ccd.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "geometry/ccd_oracle.hpp"
#include "geometry/ccd_queries.hpp"
#include "recoil/geometry/closest_points.hpp"

using namespace recoil::geometry;
using recoil::test::CcdSummary;

namespace {

void expect_good(const CcdSummary& summary, const char* name, bool is_random) {
  std::printf("%s\n", summary.line(name).c_str());
  EXPECT_EQ(summary.late, 0);
  EXPECT_EQ(summary.thin, 0);
  EXPECT_LE(summary.undecided, summary.queries / 100);
  EXPECT_GT(summary.hits, summary.queries / 20);
  EXPECT_GE(summary.mean_ratio(), is_random ? 0.8 : 0.0);
}

/// A vertex above the unit triangle.
StencilPoints<3> above_triangle(double height) {
  StencilPoints<3> z;
  z << 0.25, 0, 1, 0, 0.25, 0, 0, 1, height, 0, 0, 0;
  return z;
}

StencilPoints<3> falling(double speed) {
  StencilPoints<3> v = StencilPoints<3>::Zero();
  v(2, 0) = -speed;
  return v;
}

} // namespace

TEST(AdditiveCcd, IsNeverLateOnRandomQueriesInSpace) {
  expect_good(recoil::test::check_random_queries<3>(700000, 1), "3D random", true);
}
TEST(AdditiveCcd, IsNeverLateOnRandomQueriesInThePlane) {
  expect_good(recoil::test::check_random_queries<2>(300000, 2), "2D random", true);
}
TEST(AdditiveCcd, IsNeverLateOnDegenerateQueriesInSpace) {
  expect_good(recoil::test::check_degenerate_queries<3>(6000, 3), "3D degenerate", false);
}
TEST(AdditiveCcd, IsNeverLateOnDegenerateQueriesInThePlane) {
  expect_good(recoil::test::check_degenerate_queries<2>(6000, 4), "2D degenerate", false);
}

// The two oracles know nothing of each other.
TEST(AdditiveCcd, OraclesAgree) {
  std::mt19937_64 generator(5);
  int compared = 0;
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const auto query = recoil::test::random_query<3>(generator);
    const double marched =
        recoil::test::marched_impact<3>(query.kind, query.start, query.displacement, 1e-7, 20000);
    if (std::isnan(marched)) continue;
    const double root = recoil::test::first_impact<3>(query.kind, query.start, query.displacement);
    // A near miss within the resolution counts as an impact for one of them only.
    if (marched <= 1.0 && root > 1.0) continue;
    ++compared;
    ASSERT_NEAR(marched, root, 1e-4 * root);
    ASSERT_LE(marched, root);
  }
  EXPECT_GT(compared, 1800);
}

TEST(AdditiveCcd, StopsAFallingVertexAtATenthOfItsHeight) {
  for (double height : {1e-9, 1e-4, 1.0}) {
    const double time =
        additive_ccd<3>(StencilKind::vertex_face, above_triangle(height), falling(2.0 * height));
    EXPECT_LT(time, 0.45);
    EXPECT_GT(time, 0.44);
  }
}

TEST(AdditiveCcd, KeepsAMinimumSeparation) {
  const double time = additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0), falling(1.0), 0.5);
  EXPECT_LE(time, 0.45);
  EXPECT_GT(time, 0.43);
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(0.4), falling(1.0), 0.5), 0.0);
}

TEST(AdditiveCcd, ComesAsCloseAsTheLargestGapAtOnce) {
  for (double gap : {1e-3, 1e-6, 1e-9}) {
    const double time =
        additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0), falling(1.0), 0.0, 1.0, gap);
    EXPECT_GE(1.0 - time, gap);
    EXPECT_LE(1.0 - time, 1.3 * gap);
  }
  // A tenth of the height is less than that: nothing changes.
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0), falling(2.0), 0.0, 1.0, 0.2),
            additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0), falling(2.0)));
}

TEST(AdditiveCcd, ASmallLargestGapIsNeverLate) {
  std::mt19937 random(41);
  std::uniform_real_distribution<double> uniform(-1, 1);
  constexpr double gap = 1e-6;
  int stopped = 0;
  for (int k = 0; k < 2000; ++k) {
    const StencilKind kind = k % 2 == 0 ? StencilKind::vertex_face : StencilKind::edge_edge;
    const StencilPoints<3> start = StencilPoints<3>::NullaryExpr([&] { return uniform(random); });
    const StencilPoints<3> way = StencilPoints<3>::NullaryExpr([&] { return 2 * uniform(random); });
    const double before = std::sqrt(distance_squared<3>(kind, start));
    const double time = additive_ccd<3>(kind, start, way, 0.0, 1.0, gap);
    EXPECT_GE(time, additive_ccd<3>(kind, start, way));
    constexpr int samples = 64;
    for (int i = 0; i <= samples; ++i) {
      const double distance =
          std::sqrt(distance_squared<3>(kind, StencilPoints<3>(start + time * i / samples * way)));
      ASSERT_GE(distance, 0.999 * std::min(gap, 0.1 * before)) << "query " << k;
    }
    stopped += time < 1 ? 1 : 0;
  }
  EXPECT_GT(stopped, 150);
}

TEST(AdditiveCcd, LetsHarmlessMotionPass) {
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0), falling(-5.0)), 1.0);
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0), falling(0.89)), 1.0);
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0), falling(5.0), 0.0, 0.1), 0.1);
  // No relative motion, however close and however fast.
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(1e-12), StencilPoints<3>::Constant(1e3)),
            1.0);
  // Sliding a thousand times its distance over the face: the distance alone would not let it pass.
  StencilPoints<3> slide = StencilPoints<3>::Zero();
  slide(0, 0) = 0.5;
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(1e-10), slide), 1.0);
}

TEST(AdditiveCcd, DoesNotDependOnTheOrigin) {
  StencilPoints<3> far = above_triangle(0x1p-30);
  far.array() += 1024.0;
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, far, falling(0x1p-29)),
            additive_ccd<3>(StencilKind::vertex_face, above_triangle(0x1p-30), falling(0x1p-29)));
}

TEST(AdditiveCcd, RefusesWhatIsNotFinite) {
  StencilPoints<3> z = above_triangle(1.0);
  z(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, z, falling(5.0)), 0.0);
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(1.0),
                            falling(std::numeric_limits<double>::infinity())),
            0.0);
  EXPECT_EQ(additive_ccd<3>(StencilKind::vertex_face, above_triangle(0.0), falling(1.0)), 0.0);
}
