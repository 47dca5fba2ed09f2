#include "app/study/stored_run.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "app/study/binomial_schedule.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

std::vector<stepping::StepRecord> step_records(const std::vector<checkpoint::StateRecord>& records) {
  std::vector<stepping::StepRecord> result(records.size());
  GlobalIndex nominal = 0;
  for (std::size_t i = records.size(); i-- > 0;) {
    const checkpoint::StateRecord& from = records[i];
    stepping::StepRecord& to = result[i];
    // Inner sub-steps belong to the nominal step that ends after them.
    nominal = from.step.value_or(nominal);
    to.id = from.id;
    to.nominal_step = nominal;
    to.completes_nominal = from.step.has_value();
    to.time = from.time;
    to.dt = from.dt;
    to.coefficients.order = static_cast<int>(from.a.size());
    std::copy(from.a.begin(), from.a.end(), to.coefficients.a.begin());
    if (to.coefficients.order > 0) to.coefficients.b = from.b;
    to.num_predecessors = static_cast<int>(from.predecessors.size());
    std::copy(from.predecessors.begin(), from.predecessors.end(), to.predecessor_ids.begin());
  }
  return result;
}

int num_sub_steps(const std::vector<stepping::StepRecord>& records, GlobalIndex step) {
  return static_cast<int>(
      std::ranges::equal_range(records, step, {}, &stepping::StepRecord::nominal_step).size());
}

template <int dim>
StoredRun<dim>::StoredRun(const std::vector<stepping::StepRecord>& records,
                          checkpoint::TrajectoryReader& reader, const io::BlockLayout& nodes,
                          solvers::ElastodynamicsSolver<dim>& solver, int history, std::optional<int> budget,
                          std::function<void()> stop_if_interrupted)
    : records_(records), reader_(reader), nodes_(nodes), solver_(solver), history_(history),
      budget_(budget ? *budget : std::numeric_limits<GlobalIndex>::max()), kept_after_(budget ? 1 : 2),
      stop_if_interrupted_(std::move(stop_if_interrupted)) {
  RECOIL_ASSERT(budget_ >= 2);
}

template <int dim>
const stepping::State& StoredRun<dim>::state(GlobalIndex id) {
  forget_after(id);
  if (!held_.contains(id)) {
    if (reader_.has_arrays(id))
      hold(read(id));
    else
      recompute(id);
    if (id > 0 && reader_.has_arrays(id - 1)) reader_.prefetch(id - 1);
  }
  return held_.at(id);
}

/// Drops what a sweep that has come to `id` does not ask for any more.
template <int dim>
void StoredRun<dim>::forget_after(GlobalIndex id) {
  held_.erase(held_.upper_bound(id + kept_after_), held_.end());
  while (!snapshots_.empty() && snapshots_.back().id > id) snapshots_.pop_back();
}

template <int dim>
void StoredRun<dim>::hold(stepping::State state) {
  const GlobalIndex id = state.id;
  held_.insert_or_assign(id, std::move(state));
  most_held_ = std::max(most_held_, held_.size());
  RECOIL_ASSERT(static_cast<GlobalIndex>(held_.size()) <= budget_);
}

template <int dim>
void StoredRun<dim>::hold_history() {
  for (const stepping::State& state : solver_.history().states()) hold(state);
}

template <int dim>
stepping::State StoredRun<dim>::read(GlobalIndex id) {
  const auto& layout = solver_.problem().space->layout();
  const auto vector = [&](const char* field) {
    return linalg::Vector(layout, reader_.read(id, field, nodes_));
  };
  return {id, vector("u"), vector("v")};
}

/// Computes state `id`, and as many of those before it as there is place for.
template <int dim>
void StoredRun<dim>::recompute(GlobalIndex id) {
  const GlobalIndex last_step = records_[static_cast<std::size_t>(id)].nominal_step;
  start_before(id);
  const auto steps = [&] { return last_step - solver_.step(); };
  const auto place = [&] { return budget_ - static_cast<GlobalIndex>(held_.size()); };
  while (steps() > place() && place() / history_ > 1) {
    const GlobalIndex histories = (steps() + history_ - 1) / history_;
    const GlobalIndex next = solver_.step() + history_ * binomial_split(histories, place() / history_ - 1);
    while (solver_.step() < next) repeat_step([](const auto&) {});
    lay_snapshot();
  }
  const GlobalIndex first_held = last_step - std::min(place(), last_step) + 1;
  while (solver_.step() < last_step)
    repeat_step([&](const solvers::AcceptedState& state) {
      if (state.record.nominal_step >= first_held && !reader_.has_arrays(state.record.id))
        hold({state.record.id, *state.u, *state.v});
    });
  if (!held_.contains(id))
    throw FileError(fmt::format("the trajectory lacks state {}, inside of the repeated step {}; it was not "
                                "written by recoil gradient of this version",
                                id, last_step));
}

/// Puts the solver at the last snapshot or restart point before `id`.
template <int dim>
void StoredRun<dim>::start_before(GlobalIndex id) {
  if (snapshots_.empty()) {
    start_from_files(id);
    return;
  }
  // The solver takes the states over; its copies come back, so that no state is ever held twice.
  const Snapshot& from = snapshots_.back();
  std::vector<stepping::State> states;
  for (GlobalIndex state = from.id - from.count + 1; state <= from.id; ++state)
    states.push_back(std::move(held_.extract(state).mapped()));
  solver_.start(from.run.step, std::move(states), from.run.ledger, from.run.contact);
  hold_history();
}

template <int dim>
void StoredRun<dim>::start_from_files(GlobalIndex id) {
  RunState run;
  const auto is_complete = [&](GlobalIndex from) {
    if (!records_[static_cast<std::size_t>(from)].completes_nominal) return false;
    run = run_state_from_json(reader_.records()[static_cast<std::size_t>(from)].extra);
    for (GlobalIndex state = from; state > from - run.usable_states; --state)
      if (!reader_.has_arrays(state)) return false;
    return true;
  };
  GlobalIndex point = id - 1;
  while (point > 0 && !is_complete(point)) --point;
  if (point == 0 && !is_complete(0)) throw FileError("the trajectory lacks its initial state");
  std::vector<stepping::State> states;
  for (GlobalIndex state = point - run.usable_states + 1; state <= point; ++state)
    states.push_back(read(state));
  most_held_ = std::max(most_held_, held_.size() + states.size());
  RECOIL_ASSERT(static_cast<GlobalIndex>(held_.size() + states.size()) <= budget_);
  solver_.start(run.step, std::move(states), run.ledger, run.contact);
}

template <int dim>
void StoredRun<dim>::lay_snapshot() {
  Snapshot snapshot;
  snapshot.id = solver_.history().newest().id;
  snapshot.count = solver_.history().size();
  snapshot.run = {solver_.step(), snapshot.count, solver_.ledger(), solver_.totals().contact};
  hold_history();
  snapshots_.push_back(std::move(snapshot));
}

template <int dim>
void StoredRun<dim>::repeat_step(const std::function<void(const solvers::AcceptedState&)>& act) {
  stop_if_interrupted_();
  const GlobalIndex step = solver_.step() + 1;
  const solvers::StepReport report = solver_.advance(
      [&](const solvers::AcceptedState& state) {
        const auto id = static_cast<std::size_t>(state.record.id);
        if (id >= records_.size() || state.record != records_[id])
          throw Error(
              ExitCode::no_solution,
              fmt::format("step {}, computed anew for the sweep, came about in another way than in the "
                          "run; store every state (sweep/store_every 1)",
                          step));
        act(state);
      },
      num_sub_steps(records_, step));
  if (report.interrupted) stop_if_interrupted_();
  if (!report.accepted)
    throw Error(ExitCode::no_solution,
                fmt::format("step {}, computed anew for the sweep, failed: {}", step, report.failure));
  ++steps_repeated_;
}

template <int dim>
void StoredRun<dim>::visit(const Wanted& wanted, const Visit& visit) {
  held_.clear();
  snapshots_.clear();
  const auto count = static_cast<GlobalIndex>(records_.size());
  const auto record = [&](GlobalIndex id) -> const stepping::StepRecord& {
    return records_[static_cast<std::size_t>(id)];
  };
  for (GlobalIndex id = 0; id < count; ++id) {
    if (!wanted(record(id))) continue;
    if (reader_.has_arrays(id)) {
      const stepping::State state = read(id);
      visit(record(id), state.u, state.v);
      continue;
    }
    GlobalIndex last = id;
    for (GlobalIndex next = id; next < count && !reader_.has_arrays(next); ++next)
      if (wanted(record(next))) last = next;
    start_from_files(id);
    while (solver_.step() < record(last).nominal_step)
      repeat_step([&](const solvers::AcceptedState& state) {
        if (state.record.id >= id && state.record.id <= last && wanted(state.record))
          visit(state.record, *state.u, *state.v);
      });
    id = last;
  }
}

template class StoredRun<2>;
template class StoredRun<3>;

} // namespace recoil::app
