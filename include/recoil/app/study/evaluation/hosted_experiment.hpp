#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/study/evaluation/bands.hpp"
#include "recoil/app/study/evaluation/design_space.hpp"
#include "recoil/app/study/evaluation/evaluation_log.hpp"
#include "recoil/app/study/evaluation/experiment_groups.hpp"
#include "recoil/app/study/evaluation/residual_report.hpp"
#include "recoil/app/study/experiment/experiment_model.hpp"
#include "recoil/app/study/objectives/sd_factors.hpp"

namespace recoil::app {

/// An experiment on the ranks of one group, as a function of what an optimiser sees of the parameters of its
/// study. Of the DesignSpace are `values`, its num_values() values of parameters in SI units, and `x`, its
/// num_variables() variables; they and all results are the same on every rank of the group, save values_of().
/// A run or sweep that fails is a result with a `failure`; after a signal Error of ExitCode::interrupted is
/// thrown on every rank. `seconds` of results is left at 0. All members but model() are collective over the
/// group.
class HostedExperiment {
public:
  /// Reads the scene in `folder` and its meshes. Everything must outlive it. @throws as
  /// ExperimentModel::create().
  HostedExperiment(const ExperimentGroups& group, const Study& study, int experiment,
                   const ExperimentFolder& folder);

  ExperimentModel& model() { return *model_; }
  /// What this rank has of the values in the experiment, field by field, ghost slots included. Linear: also
  /// of changes of values.
  ParameterValues values_of(const DesignSpace& space, std::span<const double> values);

  /// From now on run() leaves a known run in `folder`, and removes all others of this experiment but the one
  /// that it has started near. Without a folder none are kept.
  void keep_runs_in(std::filesystem::path folder) { known_runs_ = std::move(folder); }
  /// Runs that begin from now on start their solves near the one in that file of the folder, if it is there.
  void start_near(std::string file) { near_ = std::move(file); }

  /// Whether the rest shape can be reached from that at the values `from`, where there is a problem.
  ExperimentPath follow_path(const DesignSpace& space, std::span<const double> from,
                             std::span<const double> values);
  /// Runs forward: J, the weighted sum of the objectives of the experiment, and its terms. @throws FileError.
  ExperimentValue run(const DesignSpace& space, std::span<const double> values);
  /// dJ/d(values), num_values() numbers, by a reverse sweep through the run there, which is made if it is not
  /// the last one.
  ExperimentGradient sweep(const DesignSpace& space, std::span<const double> values);
  /// The upper triangular factors of [dr/dx r], n + 1 by n + 1 with n = num_variables(), r the residuals with
  /// J = |r|^2, by tangent-linear sweeps: one for each of sd_factors_in(). Columns of variables that the
  /// experiment does not know are zero.
  /// @pre the objective is a sum of squares, here and below.
  ExperimentFactor factorise(const DesignSpace& space, std::span<const double> x);
  /// r at the variables x, of all ranks: by rising time of their observations, then by objective, point and
  /// component.
  ExperimentRows find_residuals(const DesignSpace& space, std::span<const double> x);
  /// [dr/dx r], with rows as find_residuals() has them; as factorise().
  ExperimentJacobian differentiate(const DesignSpace& space, std::span<const double> x);
  /// (dr/dq)' (dr/dq) times `change`, num_values() numbers like `change` itself, q the values: by a
  /// tangent-linear and a reverse sweep.
  ExperimentProduct multiply(const DesignSpace& space, std::span<const double> values,
                             std::span<const double> change);

  /// The largest forces that are compared with observed ones there.
  ExperimentPeaks find_peaks(const DesignSpace& space, std::span<const double> values);

  /// What the observations are at x and how well that is known, by a root W of the covariance of the
  /// variables: num_variables() rows, the covariance W W'.
  ExperimentBands bands(const DesignSpace& space, std::span<const double> x, const Eigen::MatrixXd& root);

  /// What is left of the observations there.
  /// @param sd_factors those of the study; empty: standard deviations are taken as they are stated.
  ExperimentResiduals summarise(const DesignSpace& space, std::span<const double> values,
                                std::span<const double> sd_factors);

private:
  inverse::KnownRun find_known_run(const inverse::ForwardProblem& problem) const;
  std::vector<double> sum_over_group(const DesignSpace& space, const ParameterValues& gradient) const;
  /// The changes of the values in the experiment with the variables that act in it, at x.
  struct Directions {
    std::vector<ParameterValues> changes;
    std::vector<std::size_t> variables;
  };
  Directions directions(const DesignSpace& space, std::span<const double> x);
  /// This rank's rows of [dr/dx r] of data that share a factor on their standard deviations.
  struct RowsOfFactor {
    std::vector<std::vector<double>> columns;
    std::vector<double> residuals;
  };
  std::vector<RowsOfFactor> divide(std::vector<std::vector<double>> columns, std::vector<double> residuals);
  std::vector<double> gather_rows(const std::vector<std::vector<double>>& columns);

  const parallel::Communicator& comm_;
  std::unique_ptr<ExperimentModel> model_;
  inverse::ReducedObjective objective_;
  std::filesystem::path known_runs_;
  std::string near_;
  std::vector<std::vector<std::size_t>> numbers_;       ///< of DesignSpace, per field and entry
  std::optional<std::vector<std::size_t>> row_order_;   ///< of all residuals, once they are asked for
  std::vector<int> sd_factors_, parts_;                 ///< sd_factors_of_terms(), sd_factors_in()
  std::optional<std::vector<std::size_t>> part_of_row_; ///< index in parts_, once it is asked for
};

} // namespace recoil::app
