#pragma once

#include <string>
#include <vector>

#include "app/study/experiment_run.hpp"
#include "app/study/judge_differences.hpp"

namespace recoil::app {

/// How the derivative along one direction compares with differences of whole runs.
struct DirectionCheck {
  std::string name;          ///< "random 1", "E"
  double derivative = 0;     ///< of the sweep
  double difference = 0;     ///< central, of the best step
  double relative_error = 0; ///< of the best step
  double slope = 0;          ///< of the Taylor remainder; NaN where it is lost in rounding
  ObjectiveErrors errors;
  std::vector<double> steps, differences, relative_errors, remainders;
  std::vector<double> uncertainties; ///< of the differences, relative
  Judgement judgement = Judgement::not_comparable;
  std::string verdict; ///< the judgement in words
};

/// Taylor test |J(q + h d) - J(q) - h g.d| = O(h^2) and central differences for directions drawn over all
/// parameters (`study.check.directions` of them), and one per parameter where there are several. Steps are
/// relative to the size of each value. Collective.
std::vector<DirectionCheck> check_gradient(const Study& study, const ExperimentRuns& experiments,
                                           const std::vector<ForwardResult>& forward,
                                           const std::vector<SweepResult>& sweeps);

} // namespace recoil::app
