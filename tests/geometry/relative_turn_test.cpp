#include "recoil/geometry/relative_turn.hpp"

#include <cmath>

#include <gtest/gtest.h>

using namespace recoil::geometry;
using Eigen::Vector3d;

namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Pair = std::array<Quaternion, 2>;

/// Two bodies that have turned by about `size` [rad] against each other.
struct Bodies {
  Pair start{quaternion_exponential({0.7, -0.4, 1.1}), quaternion_exponential({-0.2, 0.9, 0.3})};
  Pair now;

  explicit Bodies(double size)
      : now{product(quaternion_exponential(size * Vector3d(0.6, -0.3, 0.5)), start[0]),
            product(quaternion_exponential(size * Vector3d(-0.2, 0.4, -0.1)), start[1])} {}

  /// After turns about their own axes.
  Pair turned(const Vector6& by) const {
    return {product(now[0], quaternion_exponential(by.head<3>())),
            product(now[1], quaternion_exponential(by.tail<3>()))};
  }
};

Vector6 direction(int seed) {
  Vector6 d;
  for (int i = 0; i < 6; ++i) d[i] = std::sin(1.0 + 2.3 * i + 1.7 * seed);
  return d;
}

Vector6 gradient(const RelativeTurn& turn, const Vector3d& b) {
  Vector6 g;
  g << turn.by_turn[0].transpose() * b, turn.by_turn[1].transpose() * b;
  return g;
}

} // namespace

TEST(RelativeTurn, DerivativesAgreeWithDifferences) {
  const Vector3d b(0.3, -0.8, 0.5);
  const double h = 1e-5;
  for (const double size : {1e-6, 0.05, 0.8, 2.0}) {
    const Bodies bodies(size);
    const RelativeTurn turn = relative_turn(bodies.now, bodies.start);
    const Eigen::Matrix<double, 6, 6> H = relative_turn_curvature(turn.angle, b, bodies.start);
    EXPECT_LT((H - H.transpose()).norm(), 1e-14);
    for (int seed = 0; seed < 6; ++seed) {
      const Vector6 d = direction(seed);
      const RelativeTurn after = relative_turn(bodies.turned(h * d), bodies.start),
                         before = relative_turn(bodies.turned(-h * d), bodies.start);
      const Vector3d slope = turn.by_turn[0] * d.head<3>() + turn.by_turn[1] * d.tail<3>();
      EXPECT_LT(((after.angle - before.angle) / (2 * h) - slope).norm(), 1e-9) << size;
      EXPECT_NEAR((gradient(after, b) - gradient(before, b)).dot(d) / (2 * h), d.dot(H * d), 1e-8) << size;
    }
  }
}

TEST(RelativeTurn, TurnsOfBothTogetherDoNotCount) {
  const Bodies bodies(0.8);
  const Vector3d angle = relative_turn(bodies.now, bodies.start).angle;
  const Quaternion turn = quaternion_exponential({0.4, -0.6, 0.2});
  const Pair both{product(turn, bodies.now[0]), product(turn, bodies.now[1])};
  EXPECT_LT((relative_turn(both, bodies.start).angle - angle).norm(), 1e-14);
  const Pair swapped{bodies.now[1], bodies.now[0]}, swapped_start{bodies.start[1], bodies.start[0]};
  EXPECT_LT((relative_turn(swapped, swapped_start).angle + angle).norm(), 1e-14);
  // Moments in space of any function of the angle are opposite.
  const Vector6 g = gradient(relative_turn(bodies.now, bodies.start), Vector3d(0.3, -0.8, 0.5));
  EXPECT_LT(
      (rotation_matrix(bodies.now[0]) * g.head<3>() + rotation_matrix(bodies.now[1]) * g.tail<3>()).norm(),
      1e-14);
}

TEST(RelativeTurn, IsTheDifferenceOfSmallTurns) {
  const Bodies bodies(1e-4);
  const Vector3d difference = 1e-4 * (Vector3d(0.6, -0.3, 0.5) - Vector3d(-0.2, 0.4, -0.1));
  EXPECT_LT((relative_turn(bodies.now, bodies.start).angle - difference).norm(), 1e-8);
}
