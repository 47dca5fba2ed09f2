#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/study/gradient/gradient_job.hpp"

/// What `recoil gradient` says of experiments that have been run and swept.
namespace recoil::app {

/// Those that the objective is the sum of.
using CountedJobs = std::vector<GradientJob*>;
/// All but the candidates for the next experiment.
CountedJobs counted_jobs(const Study& study, const GradientJobs& experiments);

/// @throws InputError where a tied parameter has another number of values than its owner. Not collective.
void check_ties(const Study& study, const GradientJobs& experiments);

/// Objective, its terms, values and derivatives by parameter (summed over the experiments and over what is
/// tied; of fields the place in gradient.h5), counts and seconds: the members of gradient.json. Not
/// collective.
Json describe_gradient(const Study& study, const GradientJobs& experiments);

/// What keeps the gradient of an experiment from being that of its scene: a barrier stiffness that was
/// adaptive and is `frozen`, and steps that are solved loosely, with the parameters whose derivatives this
/// changes noticeably. Collective.
std::vector<std::string> gradient_warnings(const CountedJobs& experiments, const Json& frozen);

/// Writes gradient.h5 aside, then in its place: <experiment>/<parameter>/value, gradient and gradient_scaled
/// of every parameter with one value per element or vertex. No effect where there is none. Collective.
/// @throws FileError on every rank.
void write_gradient_fields(const parallel::Communicator& comm, const Study& study,
                           const GradientJobs& experiments, const std::filesystem::path& path);

} // namespace recoil::app
