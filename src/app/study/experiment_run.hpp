#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/simulation/load_geometry.hpp"
#include "recoil/app/study/study.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What one forward run of an experiment comes to.
struct ForwardResult {
  double objective = 0;      ///< of the terms of this experiment
  std::vector<double> terms; ///< weighted, in the order of the study
  GlobalIndex newton_iterations = 0;
  double seconds = 0;
  std::string failure;    ///< why there is no result; empty if there is one
  bool same_steps = true; ///< as in the first run: only then are values comparable
};

/// What its reverse sweep comes to: derivatives by the values of the parameters that act in the experiment.
struct SweepResult {
  std::vector<std::vector<double>> gradient; ///< per field, of this rank's slots
  GlobalIndex linear_iterations = 0;
  double largest_relative_residual = 0;
  double seconds = 0;
  std::string failure;
};

/// A direction in the space of parameter values, drawn from a seed: the same on any number of ranks and in
/// all experiments; components between -1 and 1.
struct Direction {
  int seed = 0;
  int only = -1; ///< index of the one parameter that changes; -1 = all
};

/// One experiment of a study: made once, run forward with any values, swept backward through the run that was
/// stored. All members but accessors are collective.
class ExperimentRun {
public:
  /// Takes the meshes of `loaded`. @throws InputError on every rank.
  static std::unique_ptr<ExperimentRun> create(const parallel::Communicator& comm, const Study& study,
                                               int experiment, LoadedScene loaded);
  virtual ~ExperimentRun() = default;

  /// Freezes the barrier stiffness where it is adaptive: a pilot run, whose largest one is taken. The result
  /// is that value, if there was a pilot run. @throws Error where it fails.
  virtual std::optional<double> freeze_stiffness() = 0;
  /// Runs with the start values into a run folder. The steps that it takes are what other runs are held to.
  virtual ForwardResult run(const std::filesystem::path& folder) = 0;
  /// Runs at start values + factor * direction, in memory.
  virtual ForwardResult run_beside(const Direction& direction, double factor) = 0;
  /// Sweeps backward through the run of run().
  virtual SweepResult sweep() = 0;

  /// gradient . direction, each value counted once over all ranks.
  virtual double derivative(const SweepResult& sweep, const Direction& direction) const = 0;
  /// Parameters of the study that act here, in the order of SweepResult::gradient.
  virtual std::vector<int> parameters() const = 0;
  /// Start values of a field, on this rank.
  virtual std::vector<double> start_values(std::size_t field) const = 0;
  /// Whether all ranks hold all values of a field.
  virtual bool is_replicated(std::size_t field) const = 0;
};

} // namespace recoil::app
