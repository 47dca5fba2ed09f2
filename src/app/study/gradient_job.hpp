#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/study/experiment_model.hpp"
#include "app/study/study_folder.hpp"
#include "recoil/inverse/reduced_objective.hpp"

namespace recoil::app {

/// The result of the forward run of an experiment.
struct ForwardResult : inverse::ObjectiveValue {
  GlobalIndex newton_iterations = 0;
  double seconds = 0;
  bool is_swept = false; ///< the sweep of this run is finished, too
};

/// What kind of objective an experiment has.
struct ObjectiveKind {
  std::string why_not_least_squares; ///< empty: it is a sum of squares
  bool is_chi_squared = false;       ///< of data in their standard deviations
  GlobalIndex num_data = 0;          ///< of a sum of squares
};

/// The result of its reverse sweep.
struct SweepResult : inverse::ObjectiveGradient {
  double seconds = 0;
};

/// The gradient of one experiment at the start values, in a folder: a run that is stored and a sweep backward
/// through it, both of which continue where an earlier process has stopped. All members but accessors are
/// collective. A signal ends every one of them that takes time, within a Newton iteration of a run or a state
/// of the sweep, with Error of ExitCode::interrupted, after what there is to keep has been written.
class GradientJob {
public:
  /// Takes the meshes of `loaded`, whose output is that of set_output_for_sweep(); `interrupts` and `study`
  /// must outlive it. @throws InputError on every rank, also for a state budget that one step does not fit
  /// in.
  static std::unique_ptr<GradientJob> create(const parallel::Communicator& comm, const Study& study,
                                             int experiment, LoadedScene loaded,
                                             const Interrupts& interrupts);
  virtual ~GradientJob() = default;

  virtual const ExperimentModel& model() const = 0;
  /// Builds the problem and its objectives once, for what is only found wrong there. @throws as
  /// ForwardModel::at().
  virtual ObjectiveKind check_start() = 0;
  /// Freezes the barrier stiffness where it is adaptive: a pilot run, whose largest one is taken and written
  /// to pilot.json and scene.json, or what an earlier pilot run has left in `folder`. The result is that
  /// value, if there was a pilot run. @throws Error where it fails.
  virtual std::optional<double> freeze_stiffness(const ExperimentFolder& folder) = 0;
  /// Runs with the start values into a run folder, or continues what it finds there: a complete run is only
  /// read.
  virtual ForwardResult run(const ExperimentFolder& folder) = 0;
  /// Sweeps backward through the run of run(), from where an earlier sweep has stopped in its folder; a
  /// finished one is not repeated. Once.
  virtual SweepResult sweep() = 0;
  /// The objective of the experiment as a function of its parameters, whose runs keep states in memory as the
  /// study says.
  virtual inverse::ReducedObjective reduced_objective() const = 0;
  /// The same with steps as in run(), without states: for differences.
  virtual inverse::ReducedObjective objective_like_run() const = 0;
};

/// Those of a study, in its order.
using GradientJobs = std::vector<std::unique_ptr<GradientJob>>;

} // namespace recoil::app
