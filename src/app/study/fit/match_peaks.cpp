#include "app/study/fit/match_peaks.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {

namespace {

/// From a bound, as a share of the interval: on the bound itself some scales have no variable.
constexpr double least_margin = 1e-3;

/// Of each experiment the logarithms of observed over simulated peaks.
std::vector<std::vector<double>> logarithms(const Study& study, const std::vector<ExperimentPeaks>& peaks,
                                            Json& report) {
  std::vector<std::vector<double>> result(peaks.size());
  std::vector<std::size_t> next(peaks.size(), 0);
  for (const auto& spec : study.objectives) {
    const std::size_t e = spec->experiment, term = next[e]++;
    if (term >= peaks[e].terms.size() || spec->type->name != std::string("reaction_force")) continue;
    const ForcePeaks& peak = peaks[e].terms[term];
    if (!(peak.observed > 0 && peak.simulated > 0))
      throw InputError(
          study.optimizer.where_match_peaks,
          fmt::format("the largest force of '{}' is {:g} N observed and {:g} N simulated, whose ratio "
                      "says nothing of strengths; look at more states, or leave this out",
                      spec->name, peak.observed, peak.simulated));
    log_info(fmt::format("the largest force of '{}' is {:g} N, {:g} N were observed", spec->name,
                         peak.simulated, peak.observed));
    report["peaks"][spec->name] = Json(nlohmann::json(peak));
    result[e].push_back(std::log(peak.observed / peak.simulated));
  }
  return result;
}

} // namespace

std::vector<double> match_peaks(const Study& study, StudyObjective& objective, std::span<const double> x,
                                Json& report) {
  const auto ratios = logarithms(study, objective.peaks(x), report);
  const DesignSpace& space = objective.space();
  std::vector<double> values = space.values(x);
  for (const DesignSpace::Block& block : space.blocks()) {
    if (!study.parameters[block.parameter].kind->is_strength) continue;
    double sum = 0, count = 0;
    for (std::size_t e = 0; e < ratios.size(); ++e)
      for (std::size_t p = 0; p < study.parameters.size(); ++p)
        if (&space.block_of(int(p)) == &block && study.parameters[p].acts_in(int(e)))
          for (const double ratio : ratios[e]) {
            sum += ratio;
            ++count;
          }
    if (count == 0) continue; // no force is compared where this strength acts
    const double factor = std::exp(sum / count);
    log_info(fmt::format("'{}' starts from {:.4g} times its value", study.parameters[block.parameter].name,
                         factor));
    report["factors"][study.parameters[block.parameter].name] = factor;
    for (std::size_t i = block.first; i < block.first + block.size(); ++i) values[i] *= factor;
    if (const auto& bounds = study.parameters[block.parameter].bounds) {
      const auto [low, high] = *bounds;
      const double margin = least_margin * (high - low);
      for (std::size_t i = block.first; i < block.first + block.size(); ++i)
        values[i] = std::clamp(values[i], low + margin, high - margin);
    }
  }
  return space.variables_of(values);
}

} // namespace recoil::app
