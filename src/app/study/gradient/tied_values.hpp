#pragma once

#include <string>
#include <vector>

#include "app/study/gradient/gradient_job.hpp"

namespace recoil::app {

/// Names of the bodies or obstacles whose values field `field` of an experiment has, in the order of its
/// values; of a tied parameter those of its owner, to whose values its own belong by their order. Empty where
/// there is no value per body. Not collective.
std::vector<std::string> bodies_of_values(const Study& study, const GradientJobs& experiments,
                                          std::size_t experiment, std::size_t field);

/// @throws InputError where a tied parameter has another number of values than its owner. Not collective.
void check_ties(const Study& study, const GradientJobs& experiments);

} // namespace recoil::app
