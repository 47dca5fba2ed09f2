#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "inverse/oscillator_problem.hpp"
#include "recoil/adjoint/sweeps.hpp"
#include "recoil/inverse/stored_states.hpp"

namespace recoil::inverse {
namespace {

using namespace oscillators;

const std::vector<int> parts_of_steps{1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 4, 1, 1, 1, 1, 1, 1};

/// A run that was taken once, with all its states beside those that are stored.
struct Stored {
  Stored(const Model& model, int bdf_order, int every)
      : steps(model, reference, bdf_order, parts_of_steps), store(every) {
    const auto see = [&](const stepping::StepRecord& record, const linalg::Vector& u,
                         const linalg::Vector& v) {
      records.push_back(record);
      all.emplace(record.id, stepping::State{record.id, u, v});
      store.see(record, u, v);
    };
    see({}, steps.history().newest().u, steps.history().newest().v);
    store.see_end_of_step(steps);
    while (steps.step() < std::ssize(parts_of_steps)) {
      steps.advance(see, 1);
      store.see_end_of_step(steps);
    }
    steps.steps_taken = 0;
  }

  OscillatorSteps steps;
  StatesInMemory store;
  std::vector<stepping::StepRecord> records;
  std::map<GlobalIndex, stepping::State> all;
};

void expect_same(const stepping::State& state, const stepping::State& other) {
  EXPECT_EQ(state.id, other.id);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(state.u.owned()[i], other.u.owned()[i]) << state.id;
    EXPECT_EQ(state.v.owned()[i], other.v.owned()[i]) << state.id;
  }
}

struct Case {
  int bdf_order, every;
  std::optional<int> budget;
};

class StoredStatesOf : public ::testing::TestWithParam<Case> {};

TEST_P(StoredStatesOf, AreThoseOfTheRunBackward) {
  const Model model(MPI_COMM_WORLD);
  const auto [order, every, budget] = GetParam();
  Stored run(model, order, every);
  StoredStates states(run.records, run.store, run.steps, std::max(order, 1), budget, [] {});
  for (GlobalIndex id = std::ssize(run.records) - 1; id > 0; --id) {
    expect_same(states.state(id), run.all.at(id));
    expect_same(states.state(id - 1), run.all.at(id - 1));
  }
  if (budget) {
    EXPECT_LE(states.most_states_held(), static_cast<std::size_t>(*budget));
  }
  EXPECT_EQ(states.steps_repeated(), run.steps.steps_taken);
  if (every == 1) {
    EXPECT_EQ(states.steps_repeated(), 0);
  } else {
    EXPECT_GT(states.steps_repeated(), 0);
  }
}

TEST_P(StoredStatesOf, VisitWhatIsWantedForward) {
  const Model model(MPI_COMM_WORLD);
  const auto [order, every, budget] = GetParam();
  Stored run(model, order, every);
  StoredStates states(run.records, run.store, run.steps, std::max(order, 1), budget, [] {});
  std::vector<GlobalIndex> visited;
  states.visit([](const stepping::StepRecord& record) { return record.nominal_step % 3 == 2; },
               [&](const stepping::StepRecord& record, const stepping::State& state) {
                 visited.push_back(record.id);
                 expect_same(state, run.all.at(record.id));
               });
  std::vector<GlobalIndex> wanted;
  for (const auto& record : run.records)
    if (record.nominal_step % 3 == 2) wanted.push_back(record.id);
  EXPECT_EQ(visited, wanted);
}

/// Owned entries of du and dv of all states, direction by direction.
struct TangentsInARow final : adjoint::StateTangents {
  std::vector<double> entries;
  void see(std::size_t, const adjoint::StateOfRun&, const adjoint::StateChange& change) override {
    for (const linalg::Vector* part : {&change.u, &change.v})
      entries.insert(entries.end(), part->owned().begin(), part->owned().end());
  }
};

std::vector<double> sweep_forward(const Model& model, const Case& at, Stored& run) {
  const int history = std::max(at.bdf_order, 1);
  StoredStates states(run.records, run.store, run.steps, history, at.budget, [] {});
  ModelStep step(model, reference, at.bdf_order > 0, {Parameters{1, 2, 3, 4, 5, 6}, Parameters{0, 0, 1}});
  TangentsInARow tangents;
  adjoint::TangentSweep sweep(&step, tangents, history, {});
  states.visit([](const auto&) { return true; },
               [&](const stepping::StepRecord& record, const stepping::State& state) {
                 EXPECT_EQ(sweep.advance(record, state.u, state.v), "");
               });
  EXPECT_EQ(sweep.totals().steps, std::ssize(run.records) - 1);
  EXPECT_LE(states.most_states_held(), std::size_t(at.every == 1 ? 0 : history));
  return tangents.entries;
}

TEST_P(StoredStatesOf, GiveATangentSweepTheSameBits) {
  const Model model(MPI_COMM_WORLD);
  Stored run(model, GetParam().bdf_order, GetParam().every), all(model, GetParam().bdf_order, 1);
  EXPECT_EQ(sweep_forward(model, GetParam(), run), sweep_forward(model, {GetParam().bdf_order, 1, {}}, all));
}

INSTANTIATE_TEST_SUITE_P(Schemes, StoredStatesOf,
                         ::testing::Values(Case{1, 1, {}}, Case{2, 1, 2}, Case{1, 4, {}}, Case{2, 5, {}},
                                           Case{3, 7, {}}, Case{1, 100, 2}, Case{1, 100, 3}, Case{1, 100, 6},
                                           Case{2, 100, 3}, Case{2, 100, 9}, Case{3, 10, 7},
                                           Case{0, 100, 4}));

TEST(StoredStates, RepeatFewerStepsWithMoreSpace) {
  const Model model(MPI_COMM_WORLD);
  GlobalIndex before = std::numeric_limits<GlobalIndex>::max();
  for (const int budget : {2, 3, 4, 6, 9, 30}) {
    Stored run(model, 1, 100);
    StoredStates states(run.records, run.store, run.steps, 1, budget, [] {});
    for (GlobalIndex id = std::ssize(run.records) - 1; id > 0; --id) {
      static_cast<void>(states.state(id));
      static_cast<void>(states.state(id - 1));
    }
    EXPECT_LE(states.steps_repeated(), before) << budget;
    before = states.steps_repeated();
  }
  EXPECT_EQ(before, std::ssize(parts_of_steps)) << "with space for all, each step once";
}

TEST(StoredStates, RefuseAStepThatComesAboutInAnotherWay) {
  const Model model(MPI_COMM_WORLD);
  Stored run(model, 1, 100);
  run.records[3].time += 1e-3;
  StoredStates states(run.records, run.store, run.steps, 1, {}, [] {});
  EXPECT_THROW(states.state(std::ssize(run.records) - 1), Error);
}

TEST(StoredStates, EndWhereTheyAreInterrupted) {
  const Model model(MPI_COMM_WORLD);
  Stored run(model, 1, 100);
  StoredStates states(run.records, run.store, run.steps, 1, {},
                      [] { throw Error(ExitCode::interrupted, "a signal"); });
  EXPECT_THROW(states.state(std::ssize(run.records) - 1), Error);
}

} // namespace
} // namespace recoil::inverse
