#include "recoil/inverse/stored_states.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::inverse {

namespace {

/// binomial(a + b, b), or the largest number where it is larger; 0 for b < 0.
GlobalIndex paths(GlobalIndex a, GlobalIndex b) {
  constexpr GlobalIndex largest = std::numeric_limits<GlobalIndex>::max();
  if (b < 0) return 0;
  GlobalIndex result = 1;
  for (GlobalIndex i = 1; i <= std::min(a, b); ++i) {
    if (result > largest / (std::max(a, b) + i)) return largest;
    result = result * (std::max(a, b) + i) / i;
  }
  return result;
}

} // namespace

GlobalIndex binomial_split(GlobalIndex steps, GlobalIndex snapshots) {
  RECOIL_ASSERT(steps >= 2 && snapshots >= 1);
  // In the paper's count the first state is a snapshot too, and the last step is one to be reversed.
  const GlobalIndex held = snapshots + 1, length = steps + 1;
  GlobalIndex repetitions = 1;
  while (paths(held, repetitions) < length) ++repetitions;
  const GlobalIndex split = std::min(paths(held, repetitions - 1), length - paths(held - 1, repetitions - 1));
  return std::clamp<GlobalIndex>(split, 1, steps - 1);
}

void StatesInMemory::see(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
                         const std::vector<double>& internal) {
  // Inside of a step that was repeated with smaller ones no run can be continued.
  if (every_ == 1 || !record.completes_nominal)
    states_.try_emplace(record.id, stepping::State{record.id, u, v, internal});
}

void StatesInMemory::see_end_of_step(const stepping::Solver& steps) {
  if (steps.step() % every_ != 0) return;
  for (const stepping::State& state : steps.history().states()) states_.try_emplace(state.id, state);
  restart_data_.try_emplace(steps.history().newest().id, steps.restart_data());
}

int num_sub_steps(const std::vector<stepping::StepRecord>& records, GlobalIndex step) {
  return static_cast<int>(
      std::ranges::equal_range(records, step, {}, &stepping::StepRecord::nominal_step).size());
}

StoredStates::StoredStates(const std::vector<stepping::StepRecord>& records, StateStore& store,
                           stepping::Solver& steps, int history, std::optional<int> budget,
                           std::function<void()> stop_if_interrupted)
    : records_(records), store_(store), steps_(steps), history_(history),
      budget_(budget ? *budget : std::numeric_limits<GlobalIndex>::max()), kept_after_(budget ? 1 : 2),
      stop_if_interrupted_(std::move(stop_if_interrupted)) {
  RECOIL_ASSERT(budget_ >= 2);
}

const stepping::State& StoredStates::state(GlobalIndex id) {
  forget_after(id);
  if (!held_.contains(id)) {
    if (store_.has(id))
      hold(store_.read(id));
    else
      recompute(id);
    if (id > 0 && store_.has(id - 1)) store_.prefetch(id - 1);
  }
  return held_.at(id);
}

/// Drops what a sweep at state `id` no longer asks for.
void StoredStates::forget_after(GlobalIndex id) {
  held_.erase(held_.upper_bound(id + kept_after_), held_.end());
  while (!snapshots_.empty() && snapshots_.back().id > id) snapshots_.pop_back();
}

void StoredStates::hold(stepping::State state) {
  const GlobalIndex id = state.id;
  held_.insert_or_assign(id, std::move(state));
  most_held_ = std::max(most_held_, held_.size());
  RECOIL_ASSERT(num_held() <= budget_);
}

void StoredStates::hold_history() {
  for (const stepping::State& state : steps_.history().states()) hold(state);
}

/// Computes state `id`, and as many of those before it as there is place for.
void StoredStates::recompute(GlobalIndex id) {
  const GlobalIndex last_step = record(id).nominal_step;
  start_before(id);
  const auto steps = [&] { return last_step - steps_.step(); };
  const auto place = [&] { return budget_ - num_held(); };
  // The state that the sweep stands at and its predecessor have to fit in beside all snapshots.
  const GlobalIndex reserved = held_.contains(id + 1) ? 1 : 2;
  const auto snapshots = [&] { return (place() - reserved) / history_; };
  while (steps() > place() && snapshots() > 0) {
    const GlobalIndex histories = (steps() + history_ - 1) / history_;
    const GlobalIndex next = steps_.step() + history_ * binomial_split(histories, snapshots());
    while (steps_.step() < next) repeat_step([](const auto&...) {});
    take_snapshot();
  }
  const GlobalIndex first_held = last_step - std::min(place(), last_step) + 1;
  while (steps_.step() < last_step)
    repeat_step([&](const stepping::StepRecord& record, const stepping::State& state) {
      if (record.nominal_step >= first_held && !store_.has(record.id)) hold(state);
    });
  if (!held_.contains(id))
    throw FileError(fmt::format("the trajectory lacks state {}, inside of the repeated step {}; it was not "
                                "written by recoil gradient of this version",
                                id, last_step));
}

/// Puts the solver at the last snapshot or restart point before `id`.
void StoredStates::start_before(GlobalIndex id) {
  if (snapshots_.empty()) {
    start_from_store(id);
    return;
  }
  // The solver takes the states over; its copies come back, so that no state is ever held twice.
  const Snapshot& from = snapshots_.back();
  stepping::restore(steps_, from.id, from.data,
                    [&](GlobalIndex state) { return std::move(held_.extract(state).mapped()); });
  hold_history();
}

void StoredStates::start_from_store(GlobalIndex id) {
  stepping::RestartData data;
  const auto is_complete = [&](GlobalIndex from) {
    if (!record(from).completes_nominal || !store_.has(from)) return false;
    data = store_.restart_data(from);
    for (GlobalIndex state = from; state > from - data.num_states; --state)
      if (!store_.has(state)) return false;
    return true;
  };
  GlobalIndex point = id - 1;
  while (point > 0 && !is_complete(point)) --point;
  if (point == 0 && !is_complete(0)) throw FileError("the trajectory lacks its initial state");
  RECOIL_ASSERT(num_held() + data.num_states <= budget_);
  most_held_ = std::max(most_held_, held_.size() + data.num_states);
  stepping::restore(steps_, point, data, [&](GlobalIndex state) { return store_.read(state); });
}

void StoredStates::take_snapshot() {
  snapshots_.push_back({steps_.history().newest().id, steps_.restart_data()});
  hold_history();
}

void StoredStates::repeat_step(const Visit& act) {
  stop_if_interrupted_();
  const GlobalIndex step = steps_.step() + 1;
  const stepping::StepOutcome outcome = steps_.advance(
      [&](const stepping::StepRecord& state, const linalg::Vector& u, const linalg::Vector& v) {
        if (state.id >= std::ssize(records_) || state != record(state.id))
          throw Error(ExitCode::no_solution,
                      fmt::format("step {}, repeated for the sweep, took another course than in the "
                                  "run; store every state (<store_every> 1)",
                                  step));
        act(state, {state.id, u, v, steps_.history().newest().internal});
      },
      num_sub_steps(records_, step));
  if (outcome.interrupted) stop_if_interrupted_();
  if (!outcome.accepted)
    throw Error(ExitCode::no_solution,
                fmt::format("step {}, repeated for the sweep, failed: {}", step, outcome.failure));
  ++steps_repeated_;
}

void StoredStates::visit(const Wanted& wanted, const Visit& visit) {
  held_.clear();
  snapshots_.clear();
  const GlobalIndex count = std::ssize(records_);
  for (GlobalIndex id = 0; id < count; ++id) {
    if (!wanted(record(id))) continue;
    if (store_.has(id)) {
      visit(record(id), store_.read(id));
      continue;
    }
    GlobalIndex last = id;
    for (GlobalIndex next = id; next < count && !store_.has(next); ++next)
      if (wanted(record(next))) last = next;
    start_from_store(id);
    while (steps_.step() < record(last).nominal_step)
      repeat_step([&](const stepping::StepRecord& record, const stepping::State& state) {
        if (record.id >= id && record.id <= last && wanted(record)) visit(record, state);
      });
    id = last;
  }
}

} // namespace recoil::inverse
