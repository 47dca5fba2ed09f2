#pragma once

#include <string>
#include <vector>

#include "app/study/experiment_run.hpp"

namespace recoil::app {

/// How the derivative along one direction compares with differences of whole runs.
struct DirectionCheck {
  std::string name;          ///< "random 1", "E"
  double derivative = 0;     ///< of the sweep
  double difference = 0;     ///< central, of the best step
  double relative_error = 0; ///< of the best step
  double slope = 0;          ///< of the Taylor remainder; NaN where it is lost in rounding
  std::vector<double> steps, relative_errors, remainders;
  std::string verdict; ///< "agrees", maybe with a remark, or what is wrong
  bool agrees = false;
};

/// Taylor test |J(q + h d) - J(q) - h g.d| = O(h^2) and central differences for directions drawn over all
/// parameters (`study.check.directions` of them), and one per parameter where there are several. Steps are
/// relative to the size of each value. Collective.
std::vector<DirectionCheck> check_gradient(const Study& study, const ExperimentRuns& experiments,
                                           const std::vector<ForwardResult>& forward,
                                           const std::vector<SweepResult>& sweeps);

} // namespace recoil::app
