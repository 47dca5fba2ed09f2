#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "inverse/oscillator_problem.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/reduced_objective.hpp"

namespace recoil::inverse {
namespace {

using namespace oscillators;

ParameterValues values(const Parameters& q) { return {std::vector<double>(q.begin(), q.end())}; }

Parameters other_values() {
  Parameters q = reference;
  for (double& value : q) value *= 1.1;
  return q;
}

/// Steps in several parts among them, as after repetitions.
const std::vector<int> parts{1, 1, 1, 2, 1, 1, 4, 1, 1, 1};

class ReducedObjectiveOf : public ::testing::TestWithParam<std::tuple<int, int, std::optional<int>>> {
protected:
  static ReducedObjective::Options options() {
    SweepSettings sweep;
    sweep.state_budget = std::get<2>(GetParam());
    return {std::get<1>(GetParam()), sweep};
  }
  Model oscillators_{MPI_COMM_WORLD};
  OscillatorModel model_{oscillators_, std::get<0>(GetParam()), parts};
};

TEST_P(ReducedObjectiveOf, HasTheGradientOfDifferences) {
  ReducedObjective objective(model_, options());
  for (const Parameters& q : {reference, other_values()}) {
    const ObjectiveGradient gradient = objective.gradient(values(q));
    ASSERT_EQ(gradient.failure, "");
    for (std::size_t j = 0; j < num_parameters; ++j) {
      Parameters plus = q, minus = q;
      plus[j] += 1e-5;
      minus[j] -= 1e-5;
      const double difference =
          (objective.value(values(plus)).objective - objective.value(values(minus)).objective) / 2e-5;
      EXPECT_NEAR(gradient.values[0][j], difference, 1e-7 * std::max(1.0, std::abs(difference))) << j;
      if (std::get<0>(GetParam()) > 0) {
        EXPECT_GT(std::abs(difference), 1e-3) << "vacuous: parameter " << j;
      }
    }
  }
}

TEST_P(ReducedObjectiveOf, RepeatsItsBitsInAnyOrder) {
  const ParameterValues here = values(reference), there = values(other_values());
  ReducedObjective objective(model_, options());
  const double value = objective.value(here).objective;
  const ParameterValues gradient = objective.gradient(here).values;
  const ParameterValues gradient_there = objective.gradient(there).values;
  EXPECT_NE(gradient, gradient_there);
  EXPECT_EQ(objective.gradient(here).values, gradient);
  EXPECT_EQ(objective.value(here).objective, value);
  EXPECT_EQ(objective.gradient(there).values, gradient_there) << "without value() before";
  EXPECT_EQ(objective.gradient(there).values, gradient_there) << "asked for twice";
}

INSTANTIATE_TEST_SUITE_P(Storage, ReducedObjectiveOf,
                         ::testing::Values(std::tuple(0, 1, std::nullopt), std::tuple(1, 1, std::nullopt),
                                           std::tuple(3, 1, std::nullopt), std::tuple(2, 0, std::nullopt),
                                           std::tuple(2, 3, std::nullopt), std::tuple(2, 100, std::nullopt),
                                           std::tuple(1, 100, 8), std::tuple(2, 4, 7)));

TEST(ReducedObjective, RunsForwardOncePerValue) {
  const Model oscillators(MPI_COMM_WORLD);
  const OscillatorModel model(oscillators, 2, parts);
  ReducedObjective objective(model, {});
  const ParameterValues here = values(reference);
  static_cast<void>(objective.value(here));
  static_cast<void>(objective.gradient(here));
  static_cast<void>(objective.value(here));
  EXPECT_EQ(model.problems_made(), 1);
  static_cast<void>(objective.value(values(other_values())));
  EXPECT_EQ(model.problems_made(), 2);
}

TEST(ReducedObjective, SaysWhyThereIsNoValue) {
  const Model oscillators(MPI_COMM_WORLD);
  const OscillatorModel model(oscillators, 1, parts);
  ReducedObjective objective(model, {});
  Parameters q = reference;
  q[mass] = -1; // OscillatorModel has no problem there
  EXPECT_NE(objective.value(values(q)).failure.find("mass"), std::string::npos);
  EXPECT_NE(objective.gradient(values(q)).failure.find("mass"), std::string::npos);
  q = reference;
  q[start_u] = 1e200;
  EXPECT_NE(objective.value(values(q)).failure, "");
  EXPECT_EQ(objective.gradient(values(reference)).failure, "") << "a failure is forgotten";
}

TEST(ReducedObjective, TakesTheStepsThatItIsComparedWith) {
  const Model oscillators(MPI_COMM_WORLD);
  const OscillatorModel whole(oscillators, 2, std::vector<int>(parts.size(), 1)),
      mixed(oscillators, 2, parts);
  const std::vector<stepping::StepRecord> records = mixed.records(reference);
  ReducedObjective objective(whole, {});
  objective.compare_with(records);
  const ObjectiveValue value = objective.value(values(reference));
  EXPECT_TRUE(value.same_steps);
  EXPECT_EQ(value.objective, ReducedObjective(mixed, {}).value(values(reference)).objective);
}

TEST(ReducedObjective, EndsWhereItIsInterrupted) {
  const Model oscillators(MPI_COMM_WORLD);
  const OscillatorModel model(oscillators, 2, parts);
  int left = 4;
  SweepSettings settings;
  settings.stop_if_interrupted = [&] {
    if (left-- == 0) throw Error(ExitCode::interrupted, "a signal");
  };
  ReducedObjective objective(model, {1, settings});
  EXPECT_THROW(objective.value(values(reference)), Error);
  left = 1000;
  EXPECT_EQ(objective.gradient(values(reference)).values,
            ReducedObjective(model, {}).gradient(values(reference)).values)
      << "nothing is left of the run that was interrupted";
}

} // namespace
} // namespace recoil::inverse
