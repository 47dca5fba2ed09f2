#include <cmath>

#include <gtest/gtest.h>

#include "recoil/app/study/evaluation/design_space.hpp"
#include "recoil/app/study/evaluation/study_objective.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app::design_space_test {
namespace {

ParameterSpec parameter(const std::string& name, const parameters::Scaling::Form& form) {
  ParameterSpec spec;
  spec.name = name;
  spec.scale = {&form};
  return spec;
}

/// E per body (log), friction (linear, bounded), a field per element, and nu tied to friction.
Study study() {
  Study study;
  study.experiments = {{"first", {}, false, {}}, {"second", {}, false, {}}};
  study.parameters = {
      parameter("E", parameters::Scaling::logarithm), parameter("friction", parameters::Scaling::linear),
      parameter("field", parameters::Scaling::multiple), parameter("nu", parameters::Scaling::linear)};
  study.parameters[0].experiments = study.parameters[2].experiments = {0, 1};
  study.parameters[1].experiments = {0};
  study.parameters[3].experiments = {1};
  study.parameters[0].bounds = {10, 1000};
  study.parameters[1].bounds = {0, 1};
  study.parameters[2].scale.factor = 5;
  study.parameters[3].tie = 1;
  return study;
}

std::vector<ExperimentSlots> slots() {
  const FieldSlots ball_and_box{{0, 1, true, {0, 1}, {"ball", "box"}, 0}, {100, 200}, {100, 200}};
  const FieldSlots cone_and_ball{{0, 1, true, {0, 1}, {"cone", "ball"}, 0}, {300, 100}, {300, 100}};
  const FieldSlots friction{{1, 1, true, {0}, {}, 0}, {0.3}, {0.3}};
  const FieldSlots field{{2, 1, false, {3, 5, 9}, {}, 12}, {10, 10, 10}, {10, 10, 10}};
  const FieldSlots nu{{3, 1, true, {0}, {}, 0}, {0.3}, {0.3}};
  return {{ball_and_box, friction, field}, {cone_and_ball, field, nu}};
}

TEST(DesignSpace, SharesValuesBetweenExperiments) {
  const Study one = study();
  const DesignSpace space(one, slots());
  // ball, box, cone; friction; field.
  EXPECT_EQ(space.start_values(), (std::vector<double>{100, 200, 300, 0.3, 10, 10, 10}));
  EXPECT_EQ(space.blocks()[0].names, (std::vector<std::string>{"ball", "box", "cone"}));
  using Ids = std::vector<GlobalIndex>;
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(space.numbers(0, 0, Ids{0, 1}), (Numbers{0, 1}));
  EXPECT_EQ(space.numbers(1, 0, Ids{0, 1}), (Numbers{2, 0}));
  EXPECT_EQ(space.numbers(1, 1, Ids{9, 3}), (Numbers{6, 4}));
  EXPECT_EQ(space.numbers(1, 2, Ids{0}), (Numbers{3})) << "tied";
  EXPECT_EQ(&space.block_of(3), &space.block_of(1));
}

TEST(DesignSpace, ScalesWhatTheOptimiserSees) {
  const Study one = study();
  const DesignSpace space(one, slots());
  const inverse::DesignVariables variables = space.variables();
  EXPECT_DOUBLE_EQ(variables.start[1], std::log(200));
  EXPECT_DOUBLE_EQ(variables.lower[0], std::log(10));
  EXPECT_DOUBLE_EQ(variables.upper[3], 1);
  EXPECT_EQ(variables.upper[4], std::numeric_limits<double>::infinity());
  EXPECT_EQ(variables.start[4], 2);
  EXPECT_EQ(variables.unit[0], 1);
  EXPECT_EQ(variables.unit[3], 0.25) << "a power of two near 0.3";
  const std::vector<double> values = space.values(variables.start);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], space.start_values()[i], 1e-12 * values[i]);
  const std::vector<double> by_values{1, 1, 1, 1, 1, 1, 1}, g = space.gradient(variables.start, by_values);
  EXPECT_NEAR(g[1], 200, 1e-10);
  EXPECT_EQ(g[3], 1);
  EXPECT_EQ(g[4], 5);
}

TEST(DesignSpace, RefusesFieldsOfDifferentMeshesAndTiesOfDifferentSizes) {
  const Study one = study();
  auto other_mesh = slots();
  other_mesh[1][1].ids = {3, 5, 8};
  EXPECT_THROW(DesignSpace(one, other_mesh), InputError);
  auto longer = slots();
  longer[1][2].ids = {0, 1};
  longer[1][2].start = {1, 2};
  EXPECT_THROW(DesignSpace(one, longer), InputError);
}

TEST(DealOut, GivesTheLargestFirstToWhoHasTheLeast) {
  const std::vector<char> all(5, 1);
  EXPECT_EQ(distribute({1, 5, 2, 4, 3}, all, 2), (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(distribute({1, 5, 2, 4, 3}, {1, 0, 1, 0, 1}, 2), (std::vector<int>{1, -1, 1, -1, 0}));
  EXPECT_EQ(distribute({1, 1, 1}, {1, 1, 1}, 1), (std::vector<int>{0, 0, 0}));
}

} // namespace
} // namespace recoil::app::design_space_test
