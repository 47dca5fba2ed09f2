#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recoil/app/study/evaluation/study_objective.hpp"

namespace recoil::app {

/// The points where the descents of a fit begin.
struct FitStarts {
  std::vector<std::vector<double>> points; ///< variables of DesignSpace; the start of the study first
  std::string about; ///< what the user should know of a number that the study does not say; empty: nothing
};

/// The starts of a fit, as many as `optimizer/starts` says; all but the first are points of a Sobol sequence
/// between the bounds. With `auto` most_automatic_starts where a fit by Gauss-Newton has at most
/// most_spread_variables, all of them between bounds, else one. @throws InputError as
/// DesignSpace::between_bounds().
FitStarts find_starts(const Study& study, const DesignSpace& space, linalg::DescentMethod method);
/// Two starts that end at one minimum make it likely that it is the lowest, and name one that is not; each
/// further one costs as much as the first. Between the bounds of many values few points say little.
constexpr int most_automatic_starts = 3;
constexpr std::size_t most_spread_variables = 10;

/// How the ranks are divided: into parts that have a start each, and these into groups for the experiments.
struct RankDivision {
  int parts = 1, groups_per_part = 1;
};
/// The division into as many groups as `optimizer/groups` says, or as there are starts and experiments, as
/// far as there are ranks; starts come first. All starts are those of one part where experiments may be
/// dropped, as the first start decides which.
RankDivision divide_ranks(const Study& study, int ranks, int starts);

/// The folder of the evaluations of a start, below that of the fit: each start has its own, so that it
/// finds them again however the ranks are divided.
std::filesystem::path evaluations_of_start(const std::filesystem::path& fit, std::size_t start);

} // namespace recoil::app
