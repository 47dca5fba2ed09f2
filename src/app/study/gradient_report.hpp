#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "app/study/taylor_check.hpp"

namespace recoil::app {

/// What the stages of a gradient have come to, per experiment.
struct GradientStages {
  GradientJobs experiments;
  std::vector<ForwardResult> forward;
  std::vector<SweepResult> sweeps;
};

/// Objective, its terms, values and derivatives by parameter (summed over the experiments and over what is
/// tied; of fields the place in gradient.h5), counts and seconds: the members of gradient.json. Not
/// collective.
nlohmann::ordered_json describe_gradient(const Study& study, const GradientStages& stages);

/// Per direction: slope, errors, verdict. Not collective.
nlohmann::ordered_json describe_check(const std::vector<GradientCheck>& checks);

/// Writes gradient.h5 aside, then in its place: <experiment>/<parameter>/value, gradient and gradient_scaled
/// of every parameter with one value per element or vertex. No effect where there is none. Collective.
/// @throws FileError on every rank.
void write_gradient_fields(const parallel::Communicator& comm, const Study& study,
                           const GradientStages& stages, const std::filesystem::path& path);

} // namespace recoil::app
