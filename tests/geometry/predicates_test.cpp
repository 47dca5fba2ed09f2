#include "recoil/geometry/predicates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "geometry/distance_oracle.hpp"

using namespace recoil::geometry;

namespace {

__extension__ using Integer = __int128;
using Grid3 = std::array<std::int64_t, 3>;
using Generator = std::mt19937_64;

int sign(Integer x) { return (x > 0) - (x < 0); }

// Exact for coordinates below 2^39.
int exact_orientation(const Grid3& a, const Grid3& b, const Grid3& c) {
  return sign(Integer(b[0] - a[0]) * (c[1] - a[1]) - Integer(b[1] - a[1]) * (c[0] - a[0]));
}
int exact_orientation(const Grid3& a, const Grid3& b, const Grid3& c, const Grid3& d) {
  Integer x[3], y[3], z[3];
  for (std::size_t k = 0; k < 3; ++k) {
    x[k] = b[k] - a[k];
    y[k] = c[k] - a[k];
    z[k] = d[k] - a[k];
  }
  return sign(x[0] * (y[1] * z[2] - y[2] * z[1]) + x[1] * (y[2] * z[0] - y[0] * z[2]) +
              x[2] * (y[0] * z[1] - y[1] * z[0]));
}

Grid3 random_grid(Generator& generator, std::int64_t size) {
  std::uniform_int_distribution<std::int64_t> uniform(-size, size);
  return {uniform(generator), uniform(generator), uniform(generator)};
}
// The scale makes the coordinates odd fractions; it is a power of two, so they stay exact.
Eigen::Vector2d point2(const Grid3& g) { return Eigen::Vector2d(double(g[0]), double(g[1])) * 0x1p-20; }
Eigen::Vector3d point3(const Grid3& g) {
  return Eigen::Vector3d(double(g[0]), double(g[1]), double(g[2])) * 0x1p-20;
}

/// origin + s u + t v, off by at most one unit per coordinate.
Grid3 nearly_in_plane(Generator& generator, const Grid3& origin, const Grid3& u, const Grid3& v) {
  std::uniform_int_distribution<std::int64_t> factor(-1000, 1000), unit(-1, 1);
  const std::int64_t s = factor(generator), t = factor(generator);
  const bool off = generator() & 1;
  Grid3 result;
  for (std::size_t k = 0; k < 3; ++k)
    result[k] = origin[k] + s * u[k] + t * v[k] + (off ? unit(generator) : 0);
  return result;
}

} // namespace

TEST(Predicates, PlaneOrientationIsExactNearDegeneracy) {
  Generator generator(1);
  std::array<int, 3> seen{};
  for (int repeat = 0; repeat < 300000; ++repeat) {
    const Grid3 u = random_grid(generator, 1 << 26), o = random_grid(generator, 1 << 26), zero{};
    const Grid3 a = o, b = nearly_in_plane(generator, o, u, zero), c = nearly_in_plane(generator, o, u, zero);
    const int exact = exact_orientation(a, b, c);
    ++seen[static_cast<std::size_t>(exact + 1)];
    ASSERT_EQ(orientation(point2(a), point2(b), point2(c)), exact);
    ASSERT_EQ(orientation(point2(b), point2(a), point2(c)), -exact);
  }
  for (int count : seen) EXPECT_GT(count, 10000);
}

TEST(Predicates, SpaceOrientationIsExactNearDegeneracy) {
  Generator generator(2);
  std::array<int, 3> seen{};
  for (int repeat = 0; repeat < 300000; ++repeat) {
    const Grid3 u = random_grid(generator, 1 << 26), v = random_grid(generator, 1 << 26);
    const Grid3 o = random_grid(generator, 1 << 26);
    std::array<Grid3, 4> p{o};
    for (std::size_t k = 1; k < 4; ++k) p[k] = nearly_in_plane(generator, o, u, v);
    const int exact = exact_orientation(p[0], p[1], p[2], p[3]);
    ++seen[static_cast<std::size_t>(exact + 1)];
    ASSERT_EQ(orientation(point3(p[0]), point3(p[1]), point3(p[2]), point3(p[3])), exact);
    ASSERT_EQ(orientation(point3(p[1]), point3(p[0]), point3(p[2]), point3(p[3])), -exact);
  }
  for (int count : seen) EXPECT_GT(count, 10000);
}

// Points one unit in the last place around 0.5 against the diagonal through (12, 12) and (24, 24): the
// picture of Kettner et al. 2008, where plain arithmetic fails in most places.
TEST(Predicates, OrientationIsExactByUlps) {
  int naive_wrong = 0;
  for (std::int64_t i = 0; i < 200; ++i)
    for (std::int64_t j = 0; j < 200; ++j) {
      const Eigen::Vector2d p(0.5 + double(i) * 0x1p-53, 0.5 + double(j) * 0x1p-53), q(12, 12), r(24, 24);
      const std::int64_t one = std::int64_t(1) << 54;
      // Doubles above 0.5 are multiples of 2^-53.
      const Integer x = one / 2 + 2 * i, y = one / 2 + 2 * j, big = Integer(12) * one;
      const int exact = sign((big - x) * (2 * big - y) - (big - y) * (2 * big - x));
      ASSERT_EQ(orientation(p, q, r), exact) << i << " " << j;
      const volatile double left = (q[0] - p[0]) * (r[1] - p[1]), right = (q[1] - p[1]) * (r[0] - p[0]);
      naive_wrong += ((left > right) - (left < right)) != exact;
    }
  EXPECT_GT(naive_wrong, 100);
}

TEST(Predicates, PlaneSegmentsAgreeWithDistanceOnGrids) {
  Generator generator(3);
  const recoil::test::DistanceOracle<long double, 2> edge(StencilKind::vertex_edge);
  int crossing = 0;
  for (int repeat = 0; repeat < 50000; ++repeat) {
    std::array<Grid3, 4> g;
    for (auto& p : g) p = random_grid(generator, 3);
    const auto touches = [&](std::size_t p, std::size_t a, std::size_t b) {
      StencilPoints<2> z;
      z << point2(g[p]), point2(g[a]), point2(g[b]), Eigen::Vector2d::Zero();
      const bool touch = edge.distance_squared(edge.convert(z, 3)) < 1e-26L;
      EXPECT_EQ(point_on_segment(point2(g[p]), point2(g[a]), point2(g[b])), touch);
      return touch;
    };
    bool exact = touches(0, 2, 3);
    exact |= touches(1, 2, 3);
    exact |= touches(2, 0, 1);
    exact |= touches(3, 0, 1);
    exact |= exact_orientation(g[0], g[1], g[2]) * exact_orientation(g[0], g[1], g[3]) < 0 &&
             exact_orientation(g[2], g[3], g[0]) * exact_orientation(g[2], g[3], g[1]) < 0;
    crossing += exact;
    ASSERT_EQ(segments_intersect(point2(g[0]), point2(g[1]), point2(g[2]), point2(g[3])), exact);
  }
  EXPECT_GT(crossing, 5000);
  EXPECT_LT(crossing, 45000);
}

// Distances of the grid's sub-features are either zero or far from it, so quadruple precision decides
// exactly; only a segment that crosses the inside of the triangle needs its point of intersection (in
// integers).
TEST(Predicates, SegmentsAndTrianglesAgreeWithDistanceOnGrids) {
  Generator generator(4);
  const recoil::test::DistanceOracle<long double, 3> face(StencilKind::vertex_face),
      edges(StencilKind::edge_edge);
  int meeting = 0, crossing = 0, flat = 0;
  for (int repeat = 0; repeat < 30000; ++repeat) {
    std::array<Grid3, 5> g; // p, q, a, b, c
    for (auto& p : g) p = random_grid(generator, repeat % 2 ? 1 : 3);
    const auto near_zero = [&](const auto& oracle, std::array<std::size_t, 4> i) {
      StencilPoints<3> z;
      for (int k = 0; k < 4; ++k) z.col(k) = point3(g[i[static_cast<std::size_t>(k)]]);
      return oracle.distance_squared(oracle.convert(z, 4)) < 1e-26L;
    };
    bool exact = near_zero(face, {0, 2, 3, 4}) || near_zero(face, {1, 2, 3, 4});
    for (std::size_t k = 0; k < 3; ++k) {
      const bool touch = near_zero(edges, {0, 1, 2 + k, 2 + (k + 1) % 3});
      ASSERT_EQ(segments_intersect(point3(g[0]), point3(g[1]), point3(g[2 + k]), point3(g[2 + (k + 1) % 3])),
                touch);
      exact |= touch;
    }
    if (!exact) {
      Integer e1[3], e2[3], r[3], d[3], n[3], s[3];
      for (std::size_t k = 0; k < 3; ++k) {
        e1[k] = g[3][k] - g[2][k];
        e2[k] = g[4][k] - g[2][k];
        r[k] = g[0][k] - g[2][k];
        d[k] = g[0][k] - g[1][k];
      }
      const auto cross = [](const Integer* a, const Integer* b, Integer* c) {
        for (int k = 0; k < 3; ++k) c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
      };
      const auto dot = [](const Integer* a, const Integer* b) {
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
      };
      // r = u e1 + v e2 + t d by Cramer's rule.
      cross(e1, e2, n);
      cross(d, r, s);
      Integer det = dot(d, n), t = dot(r, n), u = dot(e2, s), v = -dot(e1, s);
      if (det < 0) det = -det, t = -t, u = -u, v = -v;
      exact = det > 0 && t >= 0 && t <= det && u >= 0 && v >= 0 && u + v <= det;
      crossing += exact;
    }
    flat += exact_orientation(g[0], g[1], g[2], g[3]) == 0 && exact_orientation(g[0], g[2], g[3], g[4]) == 0;
    meeting += exact;
    ASSERT_EQ(
        segment_triangle_intersect(point3(g[0]), point3(g[1]), point3(g[2]), point3(g[3]), point3(g[4])),
        exact);
  }
  EXPECT_GT(meeting, 5000);
  EXPECT_LT(meeting, 25000);
  EXPECT_GT(crossing, 150);
  EXPECT_GT(flat, 2500);
}

// A vertex one ulp above or below the plane of a far triangle.
TEST(Predicates, SegmentEndsAreTakenExactly) {
  const Eigen::Vector3d a(1000, 1000, 1000), b(1001, 1000, 1000), c(1000, 1001, 1000);
  const Eigen::Vector3d top(1000.25, 1000.25, 1001), on(1000.25, 1000.25, 1000);
  Eigen::Vector3d above = on, below = on;
  above[2] = std::nextafter(1000.0, 2000.0);
  below[2] = std::nextafter(1000.0, 0.0);
  EXPECT_FALSE(segment_triangle_intersect(top, above, a, b, c));
  EXPECT_TRUE(segment_triangle_intersect(top, on, a, b, c));
  EXPECT_TRUE(segment_triangle_intersect(top, below, a, b, c));
}
