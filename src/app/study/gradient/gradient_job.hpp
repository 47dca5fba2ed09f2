#pragma once

#include <memory>
#include <vector>

#include "recoil/app/study/experiment/experiment_model.hpp"

namespace recoil::app {

/// The result of the forward run of an experiment.
struct ForwardResult : inverse::ObjectiveValue {
  GlobalIndex newton_iterations = 0;
  double seconds = 0;
  bool is_swept = false; ///< the sweep of this run is finished, too
};

/// The result of its reverse sweep. Of a sweep under way, and in JSON, what it has cost.
struct SweepResult : inverse::ObjectiveGradient {
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(SweepResult, linear_iterations, largest_relative_residual,
                                 objective_correction, seconds)
};

/// The gradient of one experiment at the start values, in a folder: a run that is stored and a sweep backward
/// through it, both of which continue where an earlier process has stopped. All members but accessors are
/// collective. A signal ends every one of them that takes time, within a Newton iteration of a run or a state
/// of the sweep, with Error of ExitCode::interrupted, after what there is to keep has been written.
class GradientJob {
public:
  /// A job on the model that ExperimentModel::create() makes of the arguments.
  static std::unique_ptr<GradientJob> create(const parallel::Communicator& comm, const Study& study,
                                             int experiment, LoadedScene loaded,
                                             const Interrupts& interrupts);
  virtual ~GradientJob() = default;

  virtual ExperimentModel& model() = 0;
  /// Runs with the start values into a run folder, or continues what it finds there: a complete run is only
  /// read. Returns forward().
  virtual const ForwardResult& run(const ExperimentFolder& folder) = 0;
  /// Sweeps backward through the run of run(), from where an earlier sweep has stopped in its folder; a
  /// finished one is not repeated. Once. Returns swept().
  virtual const SweepResult& sweep() = 0;
  const ForwardResult& forward() const { return forward_; }
  const SweepResult& swept() const { return sweep_; }
  /// The objective of the experiment as a function of its parameters, with steps as in run(), without states:
  /// for differences.
  virtual inverse::ReducedObjective objective_like_run() const = 0;

protected:
  ForwardResult forward_;
  SweepResult sweep_;
};

/// The jobs of all experiments of a study, in its order.
using GradientJobs = std::vector<std::unique_ptr<GradientJob>>;

} // namespace recoil::app
