#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "recoil/adjoint/sweeps.hpp"
#include "recoil/inverse/forward_problem.hpp"

namespace recoil::inverse {

/// Where the states of a run are kept: in memory, or in the files of a run folder. All members are
/// collective.
class StateStore {
public:
  virtual ~StateStore() = default;
  virtual bool has(GlobalIndex id) const = 0;
  /// @pre has(id). @throws FileError.
  virtual stepping::State read(GlobalIndex id) = 0;
  /// State `id` will be read soon.
  virtual void prefetch(GlobalIndex /*id*/) {}
  /// The restart data of a state that completes a nominal step. @throws FileError.
  virtual stepping::RestartData restart_data(GlobalIndex id) = 0;
};

/// Keeps the states of a run in memory: all of them, or those that a run can be continued from after every
/// n-th nominal step and at its start.
class StatesInMemory final : public StateStore {
public:
  explicit StatesInMemory(int every) : every_(every) {}
  /// A state of a step, while it is taken.
  void see(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
           const std::vector<double>& internal = {});
  /// The run has come to the end of a nominal step, or stands at its start.
  void see_end_of_step(const stepping::Solver& steps);

  bool has(GlobalIndex id) const override { return states_.contains(id); }
  const stepping::State& at(GlobalIndex id) const { return states_.at(id); }
  stepping::State read(GlobalIndex id) override { return at(id); }
  stepping::RestartData restart_data(GlobalIndex id) override { return restart_data_.at(id); }

private:
  int every_;
  std::map<GlobalIndex, stepping::State> states_;
  std::map<GlobalIndex, stepping::RestartData> restart_data_;
};

/// In how many parts a run with these records took a nominal step.
int num_sub_steps(const std::vector<stepping::StepRecord>& records, GlobalIndex step);

/// Where the next snapshot belongs when the `steps` >= 2 states after a given one are needed newest first and
/// `snapshots` >= 1 further ones can be held: after how many steps (1 .. steps - 1), such that the number of
/// steps repeated in all is the least [Griewank, Walther, ACM TOMS 26 (2000), algorithm 799]: with c
/// snapshots r (steps + 1) - binomial(c + 1 + r, r - 1), r the least number with binomial(c + 1 + r, r) >
/// steps.
GlobalIndex binomial_split(GlobalIndex steps, GlobalIndex snapshots);

/// The states of a run for its reverse sweep. What the store has is read when it is asked for, the state
/// before ahead of time; what it has not is computed again from the last restart point before it, by the
/// solver of the run. Without a budget that holds three states, or those between two stored ones. With one it
/// never holds more states than that (the histories of solver and store not counted): where those between two
/// stored ones do not fit, snapshots of a whole history each are placed by binomial_split(), in units of a
/// history, and the last states before the one asked for are kept as far as there is space. All members but
/// the accessors are collective.
class StoredStates final : public adjoint::StateSource {
public:
  using Wanted = std::function<bool(const stepping::StepRecord&)>;
  using Visit = std::function<void(const stepping::StepRecord&, const stepping::State&)>;

  /// The smallest budget of a scheme whose steps depend on `history` states: a step and its predecessor;
  /// where states are computed again, a restart point and the state that the sweep stands at.
  static int smallest_budget(bool all_stored, int history) { return all_stored ? 2 : history + 1; }

  /// `records`: of all states of the run that `steps` has taken; everything must outlive this.
  /// `stop_if_interrupted` throws on every rank if the sweep is to end; it is called before every step that
  /// is repeated and after one that was interrupted. @pre budget >= smallest_budget() of the run.
  StoredStates(const std::vector<stepping::StepRecord>& records, StateStore& store, stepping::Solver& steps,
               int history, std::optional<int> budget, std::function<void()> stop_if_interrupted);

  /// Asked for falling ids, each with its predecessor. With a budget the state after the one asked for stays
  /// valid, and no other. @throws FileError, or Error where a repeated step does not converge or takes other
  /// sub-steps than the run.
  const stepping::State& state(GlobalIndex id) override;

  /// Shows the states that are `wanted`, first to last; repeats only what the store has not, and holds
  /// nothing.
  /// @throws as state(), and what `visit` throws.
  void visit(const Wanted& wanted, const Visit& visit);

  GlobalIndex steps_repeated() const { return steps_repeated_; }
  std::size_t most_states_held() const { return most_held_; }

private:
  /// A point that the run can be continued from: the states up to `id` that it needs are held.
  struct Snapshot {
    GlobalIndex id = 0;
    stepping::RestartData data;
  };

  const stepping::StepRecord& record(GlobalIndex id) const { return records_[id]; }
  GlobalIndex num_held() const { return std::ssize(held_); }
  void hold(stepping::State state);
  void hold_history();
  void forget_after(GlobalIndex id);
  void recompute(GlobalIndex id);
  void start_before(GlobalIndex id);
  void start_from_store(GlobalIndex id);
  void take_snapshot();
  void repeat_step(const Visit& act);

  const std::vector<stepping::StepRecord>& records_;
  StateStore& store_;
  stepping::Solver& steps_;
  GlobalIndex history_, budget_, kept_after_;
  std::function<void()> stop_if_interrupted_;
  std::map<GlobalIndex, stepping::State> held_;
  std::vector<Snapshot> snapshots_; ///< by rising id
  GlobalIndex steps_repeated_ = 0;
  std::size_t most_held_ = 0;
};

} // namespace recoil::inverse
