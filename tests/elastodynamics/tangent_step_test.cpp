#include <cmath>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "elastodynamics/physical_probe.hpp"
#include "recoil/adjoint/sweeps.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::app {
namespace {

using nlohmann::json;

/// A block that falls on a clamped one and slides on it, pushed by an obstacle, beside one under pressure.
json scene(const json& changes) {
  const auto box = [](const char* name, json size, json divisions, json position) {
    return json{{"name", name},
                {"generator", {{"type", "rectangle"}, {"size", size}, {"divisions", divisions}}},
                {"transformation", {{"translation", position}}}};
  };
  json lower = box("lower", {1, 0.5}, {3, 2}, {0, 0}), upper = box("upper", {1, 0.5}, {3, 2}, {0.1, 0.53}),
       balloon = box("balloon", {0.3, 0.3}, {2, 2}, {2, 0}),
       pusher = box("pusher", {0.1, 0.2}, {1, 1}, {-0.48, 0.53});
  lower["surface_selection"] = {{{"id", 1}, {"axis", "-y"}, {"position", -0.24}}};
  upper["surface_selection"] = {{{"id", 3}, {"axis", "x"}, {"position", 0.59}}};
  balloon["surface_selection"] = {{{"id", 9}, {"axis", "-x"}, {"position", 1.86}},
                                  {{"id", 5}, {"axis", "x"}, {"position", 1.86}}};
  pusher.update({{"is_obstacle", true}, {"surface_selection", 7}});
  json result = json::parse(R"({
    "materials": [{"body": "lower", "type": "NeoHookean", "E": 1e4, "nu": 0.3, "rho": 100},
                  {"body": "upper", "type": "NeoHookean", "E": 2e4, "nu": 0.2, "rho": 100, "psi": 10, "phi": 5},
                  {"body": "balloon", "type": "NeoHookean", "E": 1e4, "nu": 0.3, "rho": 100}],
    "contact": {"enabled": true, "dhat": 0.05, "friction_coefficient": 0.3, "epsv": 0.1},
    "solver": {"contact": {"barrier_stiffness": 1e4}},
    "gravity": [0.5, -9.81],
    "initial_conditions": {"velocity": {"body": "upper", "value": [1, -1.5]}},
    "boundary_conditions": {
      "dirichlet_boundary": [{"id": 1, "value": ["0.1 * t", 0]}, {"id": 9, "value": [0, 0]}],
      "neumann_boundary": {"id": 3, "value": [-200, 50]},
      "pressure_boundary": {"id": 5, "value": 300},
      "obstacle_displacements": {"id": 7, "value": ["t", 0]}}})");
  result["geometry"] = {lower, upper, balloon, pusher};
  result.merge_patch(changes);
  return result;
}

/// A run of a scene with all its states.
struct RecordedRun {
  RecordedRun(const parallel::Communicator& comm, const json& scene) : folder(comm) {
    if (comm.rank() == 0) std::ofstream(folder / "scene.json") << scene;
    comm.barrier();
    loaded = load_scene(comm, folder / "scene.json", all_solvers());
    discrete = std::make_unique<DiscreteScene<2>>(loaded.file.scene, distribute_geometry<2>(comm, loaded));
    discrete->start();
    const stepping::State& start = solver().history().newest();
    see({}, start.u, start.v);
  }
  solvers::ElastodynamicsSolver<2>& solver() { return discrete->solver(); }
  void see(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
    records.push_back(record);
    states.push_back({record.id, u, v});
  }
  /// The first step in two parts.
  void advance(
      GlobalIndex num_steps, const stepping::Solver::OnState& also = [](const auto&...) {}) {
    while (solver().step() < num_steps) {
      const stepping::StepOutcome outcome = solver().advance(
          [&](const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
            see(record, u, v);
            also(record, u, v);
          },
          solver().step() == 0 ? 2 : 1);
      ASSERT_TRUE(outcome.accepted) << outcome.failure;
    }
  }

  testing::TemporaryFolder folder;
  LoadedScene loaded;
  std::unique_ptr<DiscreteScene<2>> discrete;
  std::vector<stepping::StepRecord> records;
  std::deque<stepping::State> states;
};

/// J = sum over all states of a_i . u_i + b_i . v_i + c_i . u_{p_1}.
struct Sums final : adjoint::StateDerivatives, adjoint::StateTangents {
  Sums(const fem::FunctionSpace<2>& space, std::size_t directions)
      : space(space), slopes(directions), sizes(directions) {}

  linalg::Vector by_u(GlobalIndex id) const { return test::rough_field(space, 1, 3.1 * double(id)); }
  linalg::Vector by_v(GlobalIndex id) const { return test::rough_field(space, 0.1, 1 + 2.3 * double(id)); }
  linalg::Vector by_previous(GlobalIndex id) const {
    return test::rough_field(space, 1, 7 + 1.7 * double(id));
  }
  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
    const GlobalIndex id = at.record.id;
    by.u.add(1, by_u(id));
    by.v.add(1, by_v(id));
    by.previous_u.add(1, by_previous(id));
  }
  void see(std::size_t direction, const adjoint::StateOfRun& at,
           const adjoint::StateChange& change) override {
    const GlobalIndex id = at.record.id;
    for (const double share :
         {by_u(id).dot(change.u), by_v(id).dot(change.v), by_previous(id).dot(change.previous_u)}) {
      slopes[direction] += share;
      sizes[direction] += std::abs(share);
    }
    changes.push_back(change.u);
  }

  const fem::FunctionSpace<2>& space;
  std::vector<double> slopes, sizes;
  std::vector<linalg::Vector> changes; ///< du of all states and directions
};

const std::vector<Changed> each_and_all{{.initial = true}, {.motion = true}, {.constants = true},
                                        {.loads = true},   {.shape = true},  {true, true, true, true, true}};

struct Case {
  const char* name;
  json changes;
  int history;
};

class TangentStepOf : public ::testing::TestWithParam<Case> {};

TEST_P(TangentStepOf, IsTheTransposeOfTheRecordedStep) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  RecordedRun run(comm, scene(GetParam().changes));
  run.advance(6);
  const GlobalIndex count = std::ssize(run.records);
  ASSERT_GT(stepping::value_of<GlobalIndex>(run.solver().counts(), "sliding") +
                stepping::value_of<GlobalIndex>(run.solver().counts(), "sticking"),
            0);
  PhysicalProbe<2> probe(*run.discrete, each_and_all);
  Sums sums(run.discrete->space(), each_and_all.size());
  constexpr adjoint::SweepOptions options{1e-13};

  const auto tangent = run.solver().tangent_step(count, probe.directions());
  adjoint::TangentSweep forward(tangent.get(), sums, GetParam().history, options);
  for (std::size_t i = 0; i < run.records.size(); ++i)
    ASSERT_EQ(forward.advance(run.records[i], run.states[i].u, run.states[i].v), "");

  struct Source final : adjoint::StateSource {
    std::deque<stepping::State>& states;
    explicit Source(std::deque<stepping::State>& states) : states(states) {}
    const stepping::State& state(GlobalIndex id) override { return states[id]; }
  } source(run.states);
  const auto step = run.solver().recorded_step(count, probe.products());
  adjoint::ReverseSweep reverse(run.records, source, sums, step.get(), options);
  while (reverse.next() >= 0) ASSERT_EQ(reverse.advance(), "");

  const std::vector<double> slopes = probe.slopes();
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    EXPECT_NEAR(sums.slopes[k], slopes[k], 1e-12 * sums.sizes[k]) << "direction " << k;
    EXPECT_GT(sums.sizes[k], 0) << "direction " << k;
  }
}

/// The steps of the run and those of the sweep use the same matrices in turn.
TEST_P(TangentStepOf, FollowsARunAsItIsTaken) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto sweep_of = [&](RecordedRun& run, bool meanwhile, GlobalIndex count) {
    PhysicalProbe<2> probe(*run.discrete, each_and_all);
    Sums sums(run.discrete->space(), each_and_all.size());
    const auto step = run.solver().tangent_step(count, probe.directions());
    adjoint::TangentSweep sweep(step.get(), sums, GetParam().history, {});
    const auto take = [&](const auto& record, const auto& u, const auto& v) {
      EXPECT_EQ(sweep.advance(record, u, v), "");
    };
    if (meanwhile) {
      take(run.records[0], run.states[0].u, run.states[0].v);
      run.advance(4, take);
    } else {
      run.advance(4);
      for (std::size_t i = 0; i < run.records.size(); ++i)
        take(run.records[i], run.states[i].u, run.states[i].v);
    }
    return sums.changes;
  };
  RecordedRun first(comm, scene(GetParam().changes)), second(comm, scene(GetParam().changes));
  const auto after = sweep_of(first, false, 6), meanwhile = sweep_of(second, true, 6);
  const auto same = [](const linalg::Vector& a, const linalg::Vector& b) {
    return std::ranges::equal(a.owned(), b.owned());
  };
  ASSERT_EQ(first.states.size(), second.states.size());
  for (std::size_t i = 0; i < first.states.size(); ++i)
    EXPECT_TRUE(same(first.states[i].u, second.states[i].u)) << "other bits in state " << i;
  ASSERT_EQ(after.size(), meanwhile.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_TRUE(same(after[i], meanwhile[i])) << i;
}

json with_time(double dt, int order) {
  return {{"time", {{"dt", dt}, {"time_steps", 6}, {"integrator", {{"type", "BDF"}, {"steps", order}}}}}};
}
json converged(json changes) {
  changes["solver"]["contact"] = {{"friction_iterations", -1}, {"friction_convergence_tol", 1e-6}};
  return changes;
}

/// The upper block, held at its end, goes along.
json quasistatic() {
  json changes{{"time", {{"dt", 0.01}, {"time_steps", 6}, {"quasistatic", true}}}};
  changes["initial_conditions"] = nullptr;
  changes["boundary_conditions"] = {{"neumann_boundary", nullptr},
                                    {"dirichlet_boundary",
                                     {{{"id", 1}, {"value", {"0.1 * t", 0}}},
                                      {{"id", 9}, {"value", {0, 0}}},
                                      {{"id", 3}, {"value", {"t", "-0.2 * t"}}}}}};
  return changes;
}

INSTANTIATE_TEST_SUITE_P(Scenes, TangentStepOf,
                         ::testing::Values(Case{"bdf1", with_time(0.01, 1), 1},
                                           Case{"bdf2", with_time(0.01, 2), 2},
                                           Case{"converged_bdf2", converged(with_time(0.01, 2)), 2},
                                           Case{"quasistatic", quasistatic(), 1},
                                           Case{"converged_quasistatic", converged(quasistatic()), 1}),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace recoil::app
