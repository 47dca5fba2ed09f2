#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "recoil/adjoint/sweeps.hpp"
#include "support/oscillators.hpp"

/// Runs of the oscillators whose sweeps are tested.
namespace recoil::adjoint {

using namespace oscillators;

struct Recorded {
  std::vector<StepRecord> records;
  std::vector<State> states;
};

/// How long each step is, in units of the nominal one; a run of halves is a repeated step.
struct Plan {
  int bdf_order; ///< 0 = quasi-static
  std::vector<double> steps;
};

inline Recorded simulate(const Model& model, const Parameters& q, const Plan& plan, int iterations = 60) {
  constexpr double nominal = 0.15;
  Recorded run;
  const bool inertia = plan.bdf_order > 0;
  stepping::History history(std::max(plan.bdf_order, 1));
  const State first = initial_state(model, q, inertia);
  history.push(0, first.u, first.v);
  run.records.emplace_back();
  run.states.push_back(first);
  double time = 0;
  for (const double share : plan.steps) {
    const double dt = share * nominal;
    if (run.records.size() > 1 && std::abs(run.records.back().dt - dt) > 1e-12) history.restart();
    time += dt;
    run.records.push_back(take_step(model, q, history, inertia, time, dt, share < 1, iterations));
    run.states.push_back(history.newest());
  }
  return run;
}

/// J_k = sum over the states of w_i (u^2 / 2 + k u v + u^4), over all entries, w_i uneven.
class Sums final : public StateDerivatives {
public:
  static double weight(GlobalIndex id) { return 0.3 + 0.1 * static_cast<double>(id % 3); }
  std::size_t num_objectives() const override { return 2; }
  void add(std::size_t k, const StateOfRun& at, StatePartials& by) override {
    const double w = weight(at.record.id), c = static_cast<double>(k);
    auto by_u = by.u.write_owned(), by_v = by.v.write_owned();
    for (std::size_t i = 0; i < 2; ++i) {
      const double u = at.now.u.owned()[i], v = at.now.v.owned()[i];
      by_u[i] += w * (u + c * v + 4 * u * u * u);
      by_v[i] += w * c * u;
    }
  }
  static double value(const Model& model, const Recorded& run, std::size_t k) {
    double sum = 0;
    for (const State& state : run.states)
      for (std::size_t i = 0; i < 2; ++i) {
        const double u = state.u.owned()[i], v = state.v.owned()[i];
        sum += weight(state.id) * (u * u / 2 + static_cast<double>(k) * u * v + u * u * u * u);
      }
    return model.comm.sum(sum);
  }
};

class StoredStates final : public StateSource {
public:
  explicit StoredStates(const Recorded& run) : run_(run) {}
  const State& state(GlobalIndex id) override { return run_.states[static_cast<std::size_t>(id)]; }

private:
  const Recorded& run_;
};

/// The gradients, by a reverse sweep.
inline std::vector<Parameters> sweep(const Model& model, const Recorded& run, bool inertia,
                                     GlobalIndex restart_at = -1) {
  ModelStep step(model, reference, inertia);
  StoredStates states(run);
  Sums objectives;
  auto whole = std::make_unique<ReverseSweep>(run.records, states, objectives, &step, SweepOptions{});
  while (whole->next() >= 0) {
    if (whole->next() == restart_at) {
      auto other = std::make_unique<ReverseSweep>(run.records, states, objectives, &step, SweepOptions{});
      other->resume(whole->next(), whole->pending());
      whole = std::move(other);
    }
    EXPECT_EQ(whole->advance(), "");
  }
  for (Parameters& gradient : step.gradients) model.comm.sum(gradient);
  return step.gradients;
}

inline const std::vector<double> even(9, 1.0);
inline const std::vector<double> with_sub_steps{1, 1, 1, 0.5, 0.5, 1, 1, 0.25, 0.25, 0.25, 0.25, 1, 1, 1};

inline const std::vector<Plan> schemes{{0, even},           {1, even},           {2, even},
                                       {3, even},           {6, even},           {0, with_sub_steps},
                                       {2, with_sub_steps}, {3, with_sub_steps}, {4, {1}}};

} // namespace recoil::adjoint
