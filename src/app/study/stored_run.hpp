#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/app/simulation/run_state.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// How the steps of a stored run came about.
std::vector<stepping::StepRecord> step_records(const std::vector<checkpoint::StateRecord>& records);

/// In how many parts a run with these records took a nominal step.
int num_sub_steps(const std::vector<stepping::StepRecord>& records, GlobalIndex step);

/// The states of a run folder for the reverse sweep. What is stored is read when it is asked for, the file
/// of the states before ahead of time; what is not is computed anew from the last restart point before it, by
/// the solver of the run. Without a budget that holds three states, or those between two stored ones. With
/// one it never holds more states than that (the histories of solver and files not counted): where those
/// between two stored ones do not fit, snapshots of a whole history each are laid by binomial_split(), in
/// units of a history, and the last states before the one asked for are kept as far as there is place. All
/// members but the accessors are collective.
template <int dim>
class StoredRun final : public adjoint::StateSource {
public:
  using Wanted = std::function<bool(const stepping::StepRecord&)>;
  using Visit =
      std::function<void(const stepping::StepRecord&, const linalg::Vector& u, const linalg::Vector& v)>;

  /// The smallest budget of a scheme that leans on `history` states: a step and its predecessor; where states
  /// are computed anew, a restart point and the state that the sweep stands at.
  static int smallest_budget(bool all_stored, int history) { return all_stored ? 2 : history + 1; }

  /// `records`: step_records() of `reader`. `solver` must be that of the run; everything must outlive this.
  /// `stop_if_interrupted` throws on every rank if the sweep is to end; it is called before every step that
  /// is computed anew and after one that `solver` was interrupted in.
  /// @pre budget >= smallest_budget() of the run.
  StoredRun(const std::vector<stepping::StepRecord>& records, checkpoint::TrajectoryReader& reader,
            const io::BlockLayout& nodes, solvers::ElastodynamicsSolver<dim>& solver, int history,
            std::optional<int> budget, std::function<void()> stop_if_interrupted);

  /// Asked for falling ids, each with its predecessor. With a budget the state after the one asked for stays
  /// valid, and no other. @throws FileError, or Error where a repeated step does not converge or takes other
  /// sub-steps than the run.
  const stepping::State& state(GlobalIndex id) override;

  /// Shows the states that are `wanted`, first to last; computes only what no file has, and holds nothing.
  /// @throws as state(), and what `visit` throws.
  void visit(const Wanted& wanted, const Visit& visit);

  GlobalIndex steps_repeated() const { return steps_repeated_; }
  std::size_t most_states_held() const { return most_held_; }

private:
  /// A point that the solver can go on from: states id - count + 1 .. id are held.
  struct Snapshot {
    GlobalIndex id = 0;
    int count = 1;
    RunState run;
  };

  stepping::State read(GlobalIndex id);
  void hold(stepping::State state);
  void hold_history();
  void forget_after(GlobalIndex id);
  void recompute(GlobalIndex id);
  void start_before(GlobalIndex id);
  void start_from_files(GlobalIndex id);
  void lay_snapshot();
  void repeat_step(const std::function<void(const solvers::AcceptedState&)>& act);

  const std::vector<stepping::StepRecord>& records_;
  checkpoint::TrajectoryReader& reader_;
  const io::BlockLayout& nodes_;
  solvers::ElastodynamicsSolver<dim>& solver_;
  GlobalIndex history_, budget_, kept_after_;
  std::function<void()> stop_if_interrupted_;
  std::map<GlobalIndex, stepping::State> held_;
  std::vector<Snapshot> snapshots_; ///< by rising id
  GlobalIndex steps_repeated_ = 0;
  std::size_t most_held_ = 0;
};

} // namespace recoil::app
