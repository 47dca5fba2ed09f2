#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "recoil/app/simulation/discrete_scene.hpp"
#include "recoil/app/simulation/interrupts.hpp"
#include "recoil/app/simulation/ledger_table.hpp"
#include "recoil/app/simulation/trajectory_output.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

/// The time loop of one run and all that it writes to its folder: trajectory, ledger, summary, log lines.
/// Collective.
template <int dim>
class ForwardRun {
public:
  using Observer = std::function<void(const solvers::AcceptedState&)>;

  /// All arguments must outlive it. A signal drops the step that is under way, within a Newton iteration.
  /// `since` has been running since the run began. `observe` is called for every accepted state, the initial
  /// one included; after a restart for those that are computed again.
  ForwardRun(const parallel::Communicator& comm, DiscreteScene<dim>& discrete,
             const checkpoint::RunFolder& folder, const Interrupts& interrupts, Stopwatch since = {},
             Observer observe = {});

  /// Runs from the initial state, where DiscreteScene::start() has put the solver, to the end or until
  /// `steps` steps are done in all. `inputs`: of run_inputs().
  ExitCode start(const nlohmann::ordered_json& inputs, std::optional<std::int64_t> steps = {});
  /// The same from the newest restart point in the folder.
  ExitCode restart(std::optional<std::int64_t> steps = {});

  /// The nodes as they lie in the trajectory.
  const io::BlockLayout& nodes() const { return output_.nodes(); }

private:
  template <class Work>
  void timed_io(Work work);
  checkpoint::WriterOptions writer_options() const;
  void write_start(const nlohmann::ordered_json& inputs);
  void read_restart_point();
  linalg::Vector read_vector(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                             const std::string& field) const;
  ExitCode go_on(std::optional<std::int64_t> steps);
  void append(const solvers::AcceptedState& state, bool stored);
  solvers::StepReport one_step(GlobalIndex last);
  void log_size() const;
  void report_step(const solvers::StepReport& report, GlobalIndex last, double seconds,
                   const RemainingTime& remaining);
  void finish(ExitCode code, const std::string& failure);

  const parallel::Communicator& comm_;
  const Scene& scene_;
  const checkpoint::RunFolder& folder_;
  const Interrupts& interrupts_;
  Stopwatch watch_;
  Observer observe_;
  const mesh::DistributedMesh<dim>& mesh_;
  const fem::FunctionSpace<dim>& space_;
  solvers::ElastodynamicsSolver<dim>& solver_;
  TrajectoryOutput<dim> output_;
  std::unique_ptr<checkpoint::TrajectoryWriter> writer_;
  std::vector<LedgerRow> rows_;        ///< of the steps before a restart
  std::unique_ptr<LedgerTable> table_; ///< on rank 0
  ProgressLine progress_;
  double io_seconds_ = 0;
};

} // namespace recoil::app
