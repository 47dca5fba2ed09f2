#include "app/study/stored_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/simulation/run_state.hpp"
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

template <int dim>
StoredRun<dim>::StoredRun(const parallel::Communicator& comm, const std::filesystem::path& trajectory,
                          const io::BlockLayout& nodes, solvers::ElastodynamicsSolver<dim>& solver)
    : nodes_(nodes), solver_(solver), reader_(comm, trajectory), records_(step_records(reader_.records())) {}

template <int dim>
const stepping::State* StoredRun<dim>::find(GlobalIndex id) const {
  if (const auto found = computed_.find(id); found != computed_.end()) return &found->second;
  const auto found = std::ranges::find(recent_, id, &stepping::State::id);
  return found != recent_.end() ? &*found : nullptr;
}

template <int dim>
const stepping::State& StoredRun<dim>::state(GlobalIndex id) {
  if (const stepping::State* known = find(id); known != nullptr) return *known;
  if (!reader_.has_arrays(id)) {
    recompute(id);
    return computed_.at(id);
  }
  // Deques leave references to what stays in place.
  constexpr std::size_t num_recent = 3;
  recent_.push_front(read(id));
  if (recent_.size() > num_recent) recent_.pop_back();
  if (id > 0 && reader_.has_arrays(id - 1)) reader_.prefetch(id - 1);
  return recent_.front();
}

template <int dim>
stepping::State StoredRun<dim>::read(GlobalIndex id) {
  const auto& layout = solver_.problem().space->layout();
  const auto vector = [&](const char* field) {
    linalg::Vector result(layout);
    const std::vector<double> values = reader_.read(id, field, nodes_);
    std::copy(values.begin(), values.end(), result.write_owned().begin());
    result.update_ghosts();
    return result;
  };
  return {id, vector("u"), vector("v")};
}

/// Repeats the run from the last restart point before `id` to the next stored state.
template <int dim>
void StoredRun<dim>::recompute(GlobalIndex id) {
  GlobalIndex point = id;
  RunState run;
  const auto is_complete = [&](GlobalIndex from) {
    if (!records_[static_cast<std::size_t>(from)].completes_nominal) return false;
    run = run_state_from_json(reader_.records()[static_cast<std::size_t>(from)].extra);
    for (GlobalIndex state = from; state > from - run.usable_states; --state)
      if (!reader_.has_arrays(state)) return false;
    return true;
  };
  do --point;
  while (point > 0 && !is_complete(point));
  if (point == 0) is_complete(0);
  std::vector<stepping::State> states;
  for (GlobalIndex state = point - run.usable_states + 1; state <= point; ++state)
    states.push_back(read(state));
  solver_.start(run.step, std::move(states), run.ledger, run.contact);
  computed_.clear();
  const auto is_needed = [&](GlobalIndex next) {
    return next <= id || (next < static_cast<GlobalIndex>(records_.size()) && !reader_.has_arrays(next));
  };
  while (is_needed(solver_.history().newest().id + 1)) {
    const solvers::StepReport report = solver_.advance([&](const solvers::AcceptedState& state) {
      if (state.record != records_[static_cast<std::size_t>(state.record.id)])
        throw Error(ExitCode::no_solution,
                    fmt::format("step {}, computed anew for the sweep, came about in another way than in the "
                                "run; store every state (sweep/store_every 1)",
                                state.record.nominal_step));
      computed_[state.record.id] = {state.record.id, *state.u, *state.v};
    });
    if (!report.accepted)
      throw Error(ExitCode::no_solution, fmt::format("step {}, computed anew for the sweep, failed: {}",
                                                     solver_.step() + 1, report.failure));
  }
}

template class StoredRun<2>;
template class StoredRun<3>;

} // namespace recoil::app
