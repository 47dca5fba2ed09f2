#pragma once

#include <string>
#include <vector>

#include "app/study/gradient_job.hpp"
#include "recoil/inverse/difference_check.hpp"

namespace recoil::app {

/// What differences of whole runs say about the gradient along a direction.
struct GradientCheck : inverse::DirectionCheck {
  std::string verdict; ///< the judgement in words
};

/// Checks along directions drawn over all parameters (`study.check.directions` of them), and along one per
/// parameter where there are several. Steps are relative to the size of each value. Collective.
std::vector<GradientCheck> check_gradient(const Study& study, const GradientJobs& experiments,
                                          const std::vector<ForwardResult>& forward,
                                          const std::vector<SweepResult>& sweeps);

} // namespace recoil::app
