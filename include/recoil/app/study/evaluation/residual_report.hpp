#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/app/study/base/study.hpp"
#include "recoil/app/study/base/study_folder.hpp"
#include "recoil/app/study/objectives/experiment_objectives.hpp"

namespace recoil::app {

/// A residual, r of |r|^2, of an observation: in standard deviations where it counts once, and where a loss
/// stands in place of squares without it.
struct NamedResidual {
  std::string point, component; ///< `point` is empty where an objective has only one
  double time = 0;              ///< of the observation [s]
  double residual = 0;
  int line = 0; ///< of the file of observations; 0 where the observation lies between two lines
  NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(NamedResidual, point, component, time, residual, line)
};

/// What is left of the observations of an objective. Those of one component of one point, in order of time,
/// are a series.
struct ObjectiveResiduals {
  double squares = 0; ///< |r|^2
  GlobalIndex data = 0;
  /// How many are more than `far` standard deviations off, and their part of the squares: 0 where residuals
  /// are not in standard deviations.
  GlobalIndex outliers = 0;
  double outlier_squares = 0;
  std::vector<NamedResidual> worst; ///< the largest ones, at most most_worst
  /// Series with at least fewest_in_series signs, on which runs_test() says something; none where
  /// observations do not count once, since neighbours in time may then come from the same ones.
  int tested = 0;
  double least_runs_p = 1;  ///< the smallest p value among these
  NamedResidual least_runs; ///< the first one of the series that has it
  NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(ObjectiveResiduals, squares, data, outliers, outlier_squares,
                                              worst, tested, least_runs_p, least_runs)

  static constexpr std::size_t most_worst = 5, fewest_in_series = 10;
  static constexpr double far = 5; ///< noise is that far off once in 1.7 million data
};

/// The residuals of an experiment, by its objectives.
struct ExperimentResiduals {
  static constexpr const char* what = "residuals";
  std::vector<ObjectiveResiduals> terms;
  std::string failure; ///< why there are none; empty if there are
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentResiduals, terms, failure, seconds)
};

/// The peaks of the forces that an experiment observes, by objective.
struct ExperimentPeaks {
  static constexpr const char* what = "peaks";
  std::vector<ForcePeaks> terms;
  std::string failure; ///< why there are none; empty if there are
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentPeaks, terms, failure, seconds)
};

/// A summary, by objective, of the residuals of all ranks, of which `rows` says what they are. Collective.
std::vector<ObjectiveResiduals> summarise_residuals(const parallel::Communicator& comm,
                                                    const ResidualRows& rows,
                                                    std::span<const double> residuals);

/// The member `residuals` of fit.json, from those of all experiments of a study: {chi_squared, data, runs_p,
/// runs_of, worst} by objective. The p value is that of the worst series times the number of series that
/// were tested (Bonferroni), so that mere noise has one below p in no more than a share p of all fits; null
/// where there are none. Not collective.
Json describe_residuals(const Study& study, const std::vector<ExperimentResiduals>& experiments);

/// act(objective, its residuals) in the order of the study, but for experiments that were dropped.
template <class Act>
void for_each_objective(const Study& study, const std::vector<ExperimentResiduals>& experiments, Act act) {
  std::vector<std::size_t> next(experiments.size(), 0);
  for (const auto& spec : study.objectives) {
    const std::vector<ObjectiveResiduals>& terms = experiments[spec->experiment].terms;
    if (!terms.empty()) act(*spec, terms[next[spec->experiment]++]);
  }
}

/// What to warn of: the worst series of all, if its p value times the number of series of all objectives is
/// below 0.01; else nothing. Not collective.
std::string suspicious_residuals(const Study& study, const std::vector<ExperimentResiduals>& experiments);

} // namespace recoil::app
