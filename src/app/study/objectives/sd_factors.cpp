#include "recoil/app/study/objectives/sd_factors.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

void require_data_with_deviations(const ObjectiveSpec& spec, const std::string& factor, bool has_deviations,
                                  bool counts_once) {
  if (!spec.type->observes)
    throw InputError(spec.where.entry,
                     fmt::format("{} is no misfit of data, beside which there is no telling how much data "
                                 "count whose standard deviations have an unknown factor ('{}'); leave it "
                                 "out, or state the `sd` and leave `sd_factor` out",
                                 spec.type->name, factor));
  if (!counts_once)
    throw InputError(spec.where.of("time"),
                     fmt::format("each datum has to count once where a factor of standard deviations is "
                                 "estimated ('{}'): take {{\"times\": \"data\"}}, and no `weight`",
                                 factor));
  if (!spec.sd_factor && !has_deviations)
    throw InputError(spec.where.of("target"),
                     fmt::format("these data have no `sd`, so that there is no telling how much they count "
                                 "beside those with the factor '{}'; give the file a column `sd`, or the "
                                 "objective a `sd_factor` of its own",
                                 factor));
}

} // namespace

std::vector<int> sd_factors_of_terms(const Study& study, int experiment) {
  std::vector<int> result;
  for (const auto& spec : study.objectives)
    if (spec->experiment == experiment) result.push_back(spec->sd_factor.value_or(no_sd_factor));
  return result;
}

std::vector<int> sd_factors_in(const Study& study, int experiment) {
  std::vector<int> result = sd_factors_of_terms(study, experiment);
  std::ranges::sort(result);
  const auto repeated = std::ranges::unique(result);
  result.erase(repeated.begin(), repeated.end());
  if (result.empty()) result.push_back(no_sd_factor);
  return result;
}

std::vector<GlobalIndex> data_of_sd_factors(const Study& study, const std::vector<ObjectiveKind>& kinds,
                                            const std::vector<char>& left_out) {
  std::vector<GlobalIndex> data(study.sd_factors.size(), 0);
  std::vector<std::size_t> next(kinds.size(), 0);
  for (const auto& spec : study.objectives) {
    const std::size_t term = next[spec->experiment]++;
    if (spec->sd_factor && left_out[spec->experiment] == 0)
      data[*spec->sd_factor] += kinds[spec->experiment].data_of[term];
  }
  return data;
}

void require_sd_factors(const Study& study, const std::vector<ObjectiveKind>& kinds) {
  if (study.sd_factors.empty()) return;
  std::vector<char> candidates;
  for (const Experiment& one : study.experiments) candidates.push_back(one.is_candidate ? 1 : 0);
  std::vector<std::size_t> next(kinds.size(), 0);
  for (const auto& spec : study.objectives) {
    const std::size_t e = spec->experiment, term = next[e]++;
    if (candidates[e] == 0)
      require_data_with_deviations(*spec, study.sd_factors[spec->sd_factor.value_or(0)],
                                   kinds[e].has_deviations[term], kinds[e].counts_once[term]);
  }
  const std::vector<GlobalIndex> data = data_of_sd_factors(study, kinds, candidates);
  for (const auto& spec : study.objectives)
    if (spec->sd_factor && data[*spec->sd_factor] < 2)
      throw InputError(spec->where.of("sd_factor"),
                       fmt::format("'{}' has {} data, from which no scatter can be told: give them a factor "
                                   "together with others, or state their `sd`",
                                   study.sd_factors[*spec->sd_factor], data[*spec->sd_factor]));
}

} // namespace recoil::app
