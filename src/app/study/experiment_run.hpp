#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/study/direction.hpp"
#include "app/study/gradient_folder.hpp"
#include "recoil/app/simulation/interrupts.hpp"
#include "recoil/app/simulation/load_geometry.hpp"
#include "recoil/app/study/study.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What one forward run of an experiment comes to.
struct ForwardResult {
  double objective = 0;      ///< of the terms of this experiment
  std::vector<double> terms; ///< weighted, in the order of the study
  GlobalIndex newton_iterations = 0;
  double seconds = 0;
  std::string failure;    ///< why there is no result; empty if there is one
  bool is_swept = false;  ///< the sweep of this run is finished, too
  bool same_steps = true; ///< as in the first run: only then are values comparable
};

/// What its reverse sweep comes to: derivatives by the values of the parameters that act in the experiment.
struct SweepResult {
  std::vector<std::vector<double>> gradient; ///< per field, of this rank's slots
  GlobalIndex linear_iterations = 0;
  double largest_relative_residual = 0;
  double objective_correction = 0; ///< what exact solves of the steps would add to the objective
  double seconds = 0;
  std::string failure;
};

/// One experiment of a study: made once, run forward with any values, swept backward through the run that was
/// stored. All members but accessors are collective. A signal ends every one of them that takes time, within
/// a Newton iteration of a run or a state of the sweep, with Error of ExitCode::interrupted, after what there
/// is to keep has been written.
class ExperimentRun {
public:
  /// Takes the meshes of `loaded`, whose output is that of set_output_for_sweep(); `interrupts` and `study`
  /// must outlive it. @throws InputError on every rank, also for a state budget that one step does not fit
  /// in.
  static std::unique_ptr<ExperimentRun> create(const parallel::Communicator& comm, const Study& study,
                                               int experiment, LoadedScene loaded,
                                               const Interrupts& interrupts);
  virtual ~ExperimentRun() = default;

  /// Builds the problem and its objectives once, for what is only found wrong there. @throws as
  /// make_variant() and make_objectives().
  virtual void check_start() = 0;
  /// Freezes the barrier stiffness where it is adaptive: a pilot run, whose largest one is taken and written
  /// to pilot.json and scene.json, or what an earlier pilot run has left in `folder`. The result is that
  /// value, if there was a pilot run. @throws Error where it fails.
  virtual std::optional<double> freeze_stiffness(const ExperimentFolder& folder) = 0;
  /// Runs with the start values into a run folder, or goes on with what it finds there: a complete run is
  /// only looked at. The steps that it takes are what other runs are held to.
  virtual ForwardResult run(const ExperimentFolder& folder) = 0;
  /// Runs at start values + factor * direction, in memory.
  virtual ForwardResult run_beside(const Direction& direction, double factor) = 0;
  /// Sweeps backward through the run of run(), from where an earlier sweep has come to in its folder; a
  /// finished one is not repeated. Once.
  virtual SweepResult sweep() = 0;

  /// gradient . direction, each value counted once over all ranks.
  virtual double derivative(const SweepResult& sweep, const Direction& direction) const = 0;
  /// Norm of the derivatives by the values of a field, each times the size of its value: what the objective
  /// changes by where these change by their size. Collective.
  virtual double sensitivity(const SweepResult& sweep, std::size_t field) const = 0;
  /// Parameters of the study that act here, in the order of SweepResult::gradient.
  virtual std::vector<int> parameters() const = 0;
  /// Start values of a field, on this rank.
  virtual std::vector<double> start_values(std::size_t field) const = 0;
  /// Names of the bodies or obstacles that the values of a field belong to; empty where it has none per body.
  virtual std::vector<std::string> bodies(std::size_t field) const = 0;
  /// Whether all ranks hold all values of a field.
  virtual bool is_replicated(std::size_t field) const = 0;
  /// Writes the arrays value, gradient and gradient_scaled of a field into the group `name`.
  virtual void write_field(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                           const SweepResult& sweep) const = 0;
};

/// Those of a study, in its order.
using ExperimentRuns = std::vector<std::unique_ptr<ExperimentRun>>;

} // namespace recoil::app
