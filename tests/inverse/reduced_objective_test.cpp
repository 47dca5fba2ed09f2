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

double rough(std::size_t i) { return std::sin(3.7 * static_cast<double>(i) + 0.4); }

TEST_P(ReducedObjectiveOf, HasTheJacobianOfDifferences) {
  ReducedObjective objective(model_, options());
  const ParameterValues here = values(reference);
  std::vector<ParameterValues> directions;
  for (std::size_t j = 0; j < num_parameters; ++j) {
    directions.push_back(values({}));
    directions[j][0][j] = 1;
  }
  const ResidualChanges changes = objective.jacobian(here, directions);
  ASSERT_EQ(changes.failure, "");
  ASSERT_EQ(changes.columns.size(), num_parameters);
  double square = 0;
  for (const double r : objective.residuals(here)) square += r * r;
  const double value = objective.value(here).objective;
  EXPECT_NEAR(model_.comm().sum(square), value, 1e-14 * value);
  const std::vector<double> r = objective.residuals(here);
  const ObjectiveGradient gradient = objective.gradient(here);
  for (std::size_t j = 0; j < num_parameters; ++j) {
    const auto at = [&](double by) {
      ParameterValues moved = here;
      moved[0][j] += by;
      return objective.residuals(moved);
    };
    const double h = 1e-3;
    const std::vector<double> a = at(-2 * h), b = at(-h), c = at(h), d = at(2 * h);
    double product = 0, error = 0, size = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double dr = changes.columns[j][i];
      error = std::max(error, std::abs((a[i] - 8 * b[i] + 8 * c[i] - d[i]) / (12 * h) - dr));
      size = std::max(size, std::abs(dr));
      product += 2 * r[i] * dr;
    }
    EXPECT_LE(error, 1e-7 * std::max(1.0, size)) << j;
    EXPECT_NEAR(model_.comm().sum(product), gradient.values[0][j], 1e-11 * std::abs(gradient.values[0][j]))
        << j;
  }
}

TEST_P(ReducedObjectiveOf, HasTheTransposedJacobian) {
  ReducedObjective objective(model_, options());
  const ParameterValues here = values(reference);
  ParameterValues w = values({});
  for (std::size_t j = 0; j < num_parameters; ++j) w[0][j] = rough(j);
  std::vector<double> y(objective.residuals(here).size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = rough(i + static_cast<std::size_t>(model_.comm().rank()));
  const ResidualChanges changes = objective.jacobian(here, {w});
  const ObjectiveGradient transposed = objective.jacobian_transposed(here, y);
  ASSERT_EQ(changes.failure, "");
  ASSERT_EQ(transposed.failure, "");
  double sum = 0, scale = 0, other = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    sum += y[i] * changes.columns[0][i];
    scale += std::abs(y[i] * changes.columns[0][i]);
  }
  for (std::size_t j = 0; j < num_parameters; ++j) other += w[0][j] * transposed.values[0][j];
  EXPECT_GT(scale, 0.1);
  EXPECT_NEAR(model_.comm().sum(sum), other, 1e-12 * model_.comm().sum(scale));
  EXPECT_EQ(objective.jacobian(here, {w}).columns, changes.columns) << "again";
  EXPECT_EQ(objective.jacobian_transposed(here, y).values, transposed.values) << "again";
  EXPECT_EQ(model_.problems_made(), 1);
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
  EXPECT_NE(objective.jacobian(values(q), {values(reference)}).failure.find("mass"), std::string::npos);
  EXPECT_NE(objective.jacobian_transposed(values(q), {}).failure.find("mass"), std::string::npos);
  EXPECT_EQ(objective.residuals(values(q)).size(), 0U);
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
