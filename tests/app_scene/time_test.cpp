#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

namespace recoil::app {
namespace {

Scene scene_with_time(const std::string& time) { return read_changed("{\"time\": " + time + "}").scene; }
TimeSpec time_of(const std::string& time) { return scene_with_time(time).time; }

TEST(Time, AbsentIsStaticAtOne) {
  const auto time = read_changed("{}").scene.time;
  EXPECT_EQ(time.kind, TimeKind::statics);
  EXPECT_EQ(time.steps, 1);
  EXPECT_EQ(time.time_of_step(1), 1.0);
}

TEST(Time, EndAndStepRoundUp) {
  const auto time = time_of(R"({"t0": 1, "tend": 2, "dt": 0.3})");
  EXPECT_EQ(time.steps, 4);
  EXPECT_EQ(time.dt, 0.3);
  EXPECT_DOUBLE_EQ(time.time_of_step(4), 2.2);
}

TEST(Time, EndAndCount) {
  const auto time = time_of(R"({"t0": 1, "tend": 2, "time_steps": 8})");
  EXPECT_EQ(time.dt, 0.125);
  EXPECT_EQ(time.steps, 8);
}

TEST(Time, StepAndCount) {
  const auto time = time_of(R"({"dt": 0.5, "time_steps": 3})");
  EXPECT_EQ(time.steps, 3);
  EXPECT_EQ(time.kind, TimeKind::dynamic);
  EXPECT_EQ(time.max_retries, 6);
}

TEST(Time, ThreeThatAgree) { EXPECT_EQ(time_of(R"({"tend": 1, "dt": 0.1, "time_steps": 10})").steps, 10); }

TEST(Time, SuiteScenesKeepTheirCounts) {
  EXPECT_EQ(time_of(R"({"tend": 5, "dt": 0.025})").steps, 200);
  EXPECT_EQ(time_of(R"({"tend": 1.25, "dt": 0.025})").steps, 50);
  EXPECT_EQ(time_of(R"({"tend": 0.22, "dt": 0.01})").steps, 22);
}

TEST(Time, Integrators) {
  const auto order = [](const std::string& integrator) {
    return elements_of(scene_with_time("{\"dt\": 1, \"time_steps\": 1, \"integrator\": " + integrator + "}"))
        .bdf_order;
  };
  EXPECT_EQ(order("\"ImplicitEuler\""), 1);
  EXPECT_EQ(order("\"BDF\""), 1);
  EXPECT_EQ(order("\"BDF6\""), 6);
  EXPECT_EQ(order("{\"type\": \"BDF\", \"steps\": 4}"), 4);
  EXPECT_EQ(order("{\"type\": \"BDF3\"}"), 3);
}

TEST(TimeFactor, Ramp) {
  const TimeFactor ramp{
      .kind = TimeFactor::Kind::linear_ramp, .from = 1, .to = 3, .points = {}, .values = {}};
  EXPECT_EQ(ramp(0.5), 0);
  EXPECT_EQ(ramp(2), 1);
  EXPECT_EQ(ramp(9), 2);
}

TEST(TimeFactor, Piecewise) {
  TimeFactor factor{.kind = TimeFactor::Kind::piecewise_linear,
                    .from = 0,
                    .to = 0,
                    .points = {1, 2, 4},
                    .values = {3, 5, 1}};
  EXPECT_EQ(factor(0), 3);
  EXPECT_EQ(factor(1.5), 4);
  EXPECT_EQ(factor(3), 3);
  EXPECT_EQ(factor(4), 1);
  factor.kind = TimeFactor::Kind::piecewise_constant;
  EXPECT_EQ(factor(1.5), 3);
  EXPECT_EQ(factor(2), 5);
  EXPECT_EQ(factor(7), 1);
}

} // namespace
} // namespace recoil::app
