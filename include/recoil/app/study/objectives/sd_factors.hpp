#pragma once

#include <vector>

#include "recoil/app/study/objectives/experiment_objectives.hpp"

/// Standard deviations that are known but for a factor, ObjectiveSpec::sd_factor. Not collective; the same on
/// all ranks.
namespace recoil::app {

/// In place of the index of a factor: the standard deviations are known.
constexpr int no_sd_factor = -1;

/// The factors of the objectives of an experiment, in their order.
std::vector<int> sd_factors_of_terms(const Study& study, int experiment);
/// The same, ascending and each once, never empty: the parts of the data of the experiment that are weighed
/// as one.
std::vector<int> sd_factors_in(const Study& study, int experiment);

/// How many data each factor has in the experiments that are not `left_out`.
std::vector<GlobalIndex> data_of_sd_factors(const Study& study, const std::vector<ObjectiveKind>& kinds,
                                            const std::vector<char>& left_out);

/// Refuses a study whose factors cannot be estimated: where something beside data that count once each has a
/// part in the objective, or data without `sd` have no factor, and where a factor has less than two data. No
/// effect without factors. @throws InputError.
void require_sd_factors(const Study& study, const std::vector<ObjectiveKind>& kinds);

} // namespace recoil::app
