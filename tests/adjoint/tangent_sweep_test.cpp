#include "recoil/adjoint/sweeps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "adjoint/recorded_run.hpp"

namespace recoil::adjoint {
namespace {

struct Change {
  std::vector<double> du, dv;
  bool operator==(const Change&) const = default;
};

/// Owned entries of the changes of all states, per direction.
struct Changes final : StateTangents {
  std::vector<std::vector<Change>> of;

  explicit Changes(std::size_t directions) : of(directions) {}
  void see(std::size_t direction, const StateOfRun& at, const StateChange& change) override {
    EXPECT_EQ(at.record.id, at.now.id);
    EXPECT_EQ(at.record.id, std::ssize(of[direction]));
    const auto du = change.u.owned(), dv = change.v.owned();
    of[direction].push_back({{du.begin(), du.end()}, {dv.begin(), dv.end()}});
  }
};

std::string sweep_forward(const Recorded& run, const Plan& plan, ModelStep& step, Changes& changes) {
  TangentSweep sweep(&step, changes, std::max(plan.bdf_order, 1), {});
  for (std::size_t i = 0; i < run.records.size(); ++i)
    if (const std::string failure = sweep.advance(run.records[i], run.states[i].u, run.states[i].v);
        !failure.empty())
      return failure;
  const GlobalIndex steps = std::ssize(run.records) - 1;
  EXPECT_EQ(sweep.totals().steps, steps);
  EXPECT_EQ(sweep.totals().solves, steps * std::ssize(changes.of));
  return "";
}

std::vector<std::vector<Change>> changes_along(const Model& model, const Plan& plan,
                                               const std::vector<Parameters>& directions) {
  ModelStep step(model, reference, plan.bdf_order > 0, directions);
  Changes changes(directions.size());
  EXPECT_EQ(sweep_forward(simulate(model, reference, plan), plan, step, changes), "");
  return changes.of;
}

/// One parameter each, and all of them together.
std::vector<Parameters> directions() {
  std::vector<Parameters> result;
  for (std::size_t k = 0; k < num_parameters; ++k) result.emplace_back(Parameters{})[k] = 1;
  result.push_back({0.3, -1.1, 0.7, 0.9, -0.4, 1.7});
  return result;
}

class TangentSweepOf : public ::testing::TestWithParam<Plan> {};

TEST_P(TangentSweepOf, AgreesWithDifferences) {
  const Model model(MPI_COMM_WORLD);
  const auto changes = changes_along(model, GetParam(), directions());
  for (std::size_t k = 0; k < directions().size(); ++k) {
    const auto at = [&](double h) {
      Parameters q = reference;
      for (std::size_t j = 0; j < num_parameters; ++j) q[j] += h * directions()[k][j];
      return simulate(model, q, GetParam()).states;
    };
    // Of sixth order.
    constexpr double h = 4e-3;
    constexpr std::array<double, 3> weights{3.0 / 4, -3.0 / 20, 1.0 / 60};
    std::vector<std::vector<State>> plus, minus;
    for (const double by : {h, 2 * h, 3 * h}) {
      plus.push_back(at(by));
      minus.push_back(at(-by));
    }
    double error = 0, size = 0;
    for (std::size_t state = 0; state < changes[k].size(); ++state)
      for (std::size_t i = 0; i < 2; ++i) {
        double du = 0, dv = 0;
        for (std::size_t n = 0; n < 3; ++n) {
          du += weights[n] / h * (plus[n][state].u.owned()[i] - minus[n][state].u.owned()[i]);
          dv += weights[n] / h * (plus[n][state].v.owned()[i] - minus[n][state].v.owned()[i]);
        }
        const Change& change = changes[k][state];
        error = std::max({error, std::abs(change.du[i] - du), std::abs(change.dv[i] - dv)});
        size = std::max({size, std::abs(du), std::abs(dv)});
      }
    const bool is_inertial = k == mass || k == start_v;
    if (GetParam().bdf_order > 0 || !is_inertial) {
      EXPECT_GT(size, 1e-2) << "vacuous: direction " << k;
    }
    EXPECT_LE(error, 1e-10 * std::max(size, 1.0)) << "direction " << k;
  }
}

TEST_P(TangentSweepOf, IsTheTransposeOfTheReverseSweep) {
  const Model model(MPI_COMM_WORLD);
  const Recorded run = simulate(model, reference, GetParam());
  const auto gradients = sweep(model, run, GetParam().bdf_order > 0);
  const auto changes = changes_along(model, GetParam(), directions());
  Sums objectives;
  for (std::size_t k = 0; k < directions().size(); ++k)
    for (std::size_t objective = 0; objective < 2; ++objective) {
      double forward = 0, reverse = 0, size = 0;
      for (std::size_t state = 0; state < run.states.size(); ++state) {
        StatePartials by{Vector(model.layout), Vector(model.layout), Vector(model.layout)};
        objectives.add(objective, {run.records[state], run.states[state], run.states[state]}, by);
        for (std::size_t i = 0; i < 2; ++i)
          for (const double product :
               {by.u.owned()[i] * changes[k][state].du[i], by.v.owned()[i] * changes[k][state].dv[i]}) {
            forward += product;
            size += std::abs(product);
          }
      }
      for (std::size_t j = 0; j < num_parameters; ++j) {
        reverse += gradients[objective][j] * directions()[k][j];
        size += std::abs(gradients[objective][j] * directions()[k][j]);
      }
      EXPECT_NEAR(model.comm.sum(forward), reverse, 1e-13 * model.comm.sum(size))
          << "direction " << k << ", objective " << objective;
    }
}

TEST_P(TangentSweepOf, TakesDirectionsTogetherAsOneByOne) {
  const Model model(MPI_COMM_WORLD);
  const auto together = changes_along(model, GetParam(), directions());
  for (std::size_t k = 0; k < directions().size(); ++k)
    EXPECT_EQ(changes_along(model, GetParam(), {directions()[k]}).front(), together[k]);
}

INSTANTIATE_TEST_SUITE_P(Schemes, TangentSweepOf, ::testing::ValuesIn(schemes));

/// What the sweep along two directions, the second without end, says and has shown.
void expect_failure(const Plan& plan, const std::string& text, double entry, bool converges) {
  const Model model(MPI_COMM_WORLD);
  Parameters far{};
  far[stiffness] = entry;
  ModelStep step(model, reference, plan.bdf_order > 0, {Parameters{}, far});
  step.converges = converges;
  Changes changes(2);
  const std::string failure = sweep_forward(simulate(model, reference, plan), plan, step, changes);
  EXPECT_NE(failure.find("step 1 (t = 0.15): " + text), std::string::npos) << failure;
  for (const auto& of_direction : changes.of) EXPECT_EQ(of_direction.size(), 1);
}

TEST(TangentSweep, SaysWhatHasNoTangent) {
  expect_failure({2, even}, "the tangent along direction 2 is not finite",
                 std::numeric_limits<double>::infinity(), true);
  expect_failure({0, even},
                 "the tangent along direction 1 cannot be solved: relative residual 0 after 1 "
                 "iterations, 1e-10 is asked for",
                 1, false);
}

} // namespace
} // namespace recoil::adjoint
