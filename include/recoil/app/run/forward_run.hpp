#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recoil/app/run/interrupts.hpp"
#include "recoil/app/run/run_output.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

struct RunOptions {
  GlobalIndex steps = 0;   ///< nominal ones
  int store_every = 1;     ///< in nominal steps; the last one is stored as well
  int states_per_file = 1; ///< of those stored
  std::vector<int>
      stored; ///< ascending; if there are any, the nominal steps to store in place of store_every

  /// Whether the state after a nominal step is stored that is not the last one.
  bool stores(GlobalIndex step) const;
};

RunOptions run_options(const Scene& scene);

/// When the steps of a scene are taken, and how often failed ones are repeated.
stepping::TimeOptions time_options(const Scene& scene);

struct LedgerRow;

/// The time loop of one run of any solver, and all that it writes to its folder: trajectory, ledger, summary,
/// log lines. Collective.
class ForwardRun {
public:
  /// All arguments must outlive it. A signal drops the step that is under way (Solver::interrupt_when).
  /// `since` has been running since the run began. `observe` is called for every accepted state, the initial
  /// one included; after a restart for those that are computed again.
  ForwardRun(const parallel::Communicator& comm, stepping::Solver& solver, RunOutput& output,
             RunOptions options, const checkpoint::RunFolder& folder, const Interrupts& interrupts,
             Stopwatch since = {}, stepping::Solver::OnState observe = {});

  /// `act` is called before every nominal step. It may move what the solver holds to other ranks, and returns
  /// the output for where that lies then; the output before that must live until the step is done.
  /// Collective.
  void before_steps(std::function<RunOutput&()> act) { before_step_ = std::move(act); }

  /// Runs from the initial state, where the solver stands, to the end or until `steps` steps are done in all.
  /// `metadata`: JSON text kept with the trajectory (run_metadata()).
  ExitCode start(const std::string& metadata, std::optional<std::int64_t> steps = {});
  /// Runs from the newest restart point in the folder, else as start() does.
  ExitCode restart(std::optional<std::int64_t> steps = {});

private:
  template <class Work>
  void timed_io(Work work);
  checkpoint::WriterOptions writer_options() const;
  void log_start() const;
  void write_start(const std::string& metadata);
  /// Gives the rows of ledger.csv up to there.
  std::vector<LedgerRow> read_restart_point();
  ExitCode go_on(const std::vector<LedgerRow>& rows, std::optional<std::int64_t> steps);
  void append(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
              bool stored);
  stepping::StepOutcome one_step(GlobalIndex last);
  void finish(ExitCode code, const std::string& failure);

  const parallel::Communicator& comm_;
  stepping::Solver& solver_;
  RunOutput* output_;
  RunOptions options_;
  const checkpoint::RunFolder& folder_;
  const Interrupts& interrupts_;
  Stopwatch watch_;
  stepping::Solver::OnState observe_;
  std::function<RunOutput&()> before_step_;
  std::unique_ptr<checkpoint::TrajectoryWriter> writer_;
  ProgressLine progress_;
  double io_seconds_ = 0;
};

} // namespace recoil::app
