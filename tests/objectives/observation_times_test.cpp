#include "recoil/objectives/observation_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objectives/objective_checks.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {
namespace {

using Point = Eigen::Vector2d;

/// Two markers that move along x with speed 1, seen at other times each.
class ObservationTimes : public ::testing::Test {
protected:
  std::unique_ptr<Objective<2>> markers(const std::vector<double>& left, const std::vector<double>& right) {
    std::vector<Marker<2>> all;
    for (const auto& [times, x] : {std::pair(left, -0.3), std::pair(right, 1.3)}) {
      const Point rest(x, 0.1);
      Track<2> track{"t", times, {}};
      track.is_interpolated = false;
      for (std::size_t i = 0; i < times.size(); ++i) track.samples.push_back({rest, Point(1 / 0.1, 1)});
      all.push_back({locate<2>(scene_.space.mesh(), x > 0.75 ? 1 : 0, rest, "m"), track});
    }
    return make_markers<2>(scene_.space, std::move(all));
  }
  /// u = v * time with v along x.
  ObservedState moved(double time) {
    u_ = scene_.linear_field(Point(time, 0), Eigen::Matrix2d::Zero());
    v_ = scene_.linear_field(Point(1, 0), Eigen::Matrix2d::Zero());
    return {u_.local(), v_.local(), time};
  }
  std::string refusal(std::unique_ptr<Objective<2>> objective, bool is_dynamic) {
    try {
      count_observations_once<2>(std::move(objective), states_, is_dynamic);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  Scene<2> scene_{MPI_COMM_WORLD};
  linalg::Vector u_{scene_.space.layout()}, v_{scene_.space.layout()};
  std::vector<double> states_{0, 0.1, 0.2, 0.3};
};

TEST_F(ObservationTimes, EachObservationCountsOnce) {
  const auto counted =
      count_observations_once<2>(markers({-1, 0.1, 0.17}, {0.17, 0.21, 0.3 + 1e-13, 7}), states_, true);
  EXPECT_EQ(counted.states.steps, (std::vector<GlobalIndex>{1, 2, 3}));
  // In units of 0.1, the sd: the distance is the time.
  EXPECT_NEAR(counted.objective->value(moved(0.1)), 1, 1e-12);
  EXPECT_NEAR(counted.objective->value(moved(0.2)), 2 * 1.7 * 1.7 + 2.1 * 2.1, 1e-12);
  EXPECT_NEAR(counted.objective->value(moved(0.3)), 9, 1e-12);
  EXPECT_EQ(counted.objective->value(moved(0)), 0);
  // Two components of each; rows of all states are as many as those of the one with the most times.
  const auto of_all_ranks = [&](std::size_t count) {
    return scene_.comm.sum(static_cast<GlobalIndex>(count));
  };
  for (const auto& [time, data] : {std::pair(0.0, 0), {0.1, 2}, {0.2, 6}, {0.3, 2}})
    EXPECT_EQ(of_all_ranks(counted.objective->num_data(time)), data) << time;
  EXPECT_EQ(of_all_ranks(counted.objective->num_residuals()), 2 * 2 * 2);
}

/// The state at 0.2 s is compared with both markers at 0.17 s and with the right one at 0.21 s.
TEST_F(ObservationTimes, LabelsSayWhenAPointWasSeen) {
  const auto counted =
      count_observations_once<2>(markers({-1, 0.1, 0.17}, {0.17, 0.21, 0.3 + 1e-13, 7}), states_, true);
  EXPECT_THAT(counted.objective->observation_names().components, ::testing::ElementsAre("x", "y"));
  std::vector<double> seen(3, 0.0); // left at 0.17 s, right at 0.17 s, right at 0.21 s
  for (const ResidualLabel& label : counted.objective->residual_labels(0.2)) {
    if (!label.is_observed) continue;
    const bool is_late = label.time > 0.2;
    EXPECT_EQ(label.time, is_late ? 0.21 : 0.17);
    seen[label.point + (is_late ? 1 : 0)] += label.component + 1;
  }
  scene_.comm.sum(seen);
  EXPECT_THAT(seen, ::testing::ElementsAre(3, 3, 3));
}

TEST_F(ObservationTimes, BetweenStatesThereMustBeVelocities) {
  EXPECT_EQ(refusal(markers({0.1}, {0.2}), false), "accepted");
  EXPECT_THAT(refusal(markers({0.1}, {0.17}), false),
              ::testing::HasSubstr("an observation at 0.17 s, between the states at 0.2 s and next to it"));
}

TEST_F(ObservationTimes, SomeLieWithinTheRun) {
  EXPECT_THAT(
      refusal(markers({-1}, {0.31, 7}), true),
      ::testing::HasSubstr("no observation lies within the run, 0 s to 0.3 s; they run from -1 s to 7 s"));
}

} // namespace
} // namespace recoil::objectives
