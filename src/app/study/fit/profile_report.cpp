#include "app/study/fit/profile_report.hpp"

#include <cmath>

#include <fmt/format.h>

#include "recoil/base/log.hpp"
#include "recoil/inverse/profile.hpp"

namespace recoil::app {

namespace {

Json describe_profile(const inverse::Profile& profile, const ParameterSpec& spec, double level,
                      double variance) {
  Json entry;
  for (const inverse::ProfileEnd& end : profile.ends) {
    entry["interval"].push_back(end.value ? Json(spec.scale.value(*end.value)) : Json(nullptr));
    entry["at_bound"].push_back(end.at_bound);
  }
  entry["level"] = level / variance;
  for (const inverse::ProfilePoint& point : profile.points)
    entry["points"].push_back(
        Json::array({spec.scale.value(point.value),
                     std::isfinite(point.rise) ? Json(point.rise / variance) : Json(nullptr)}));
  return entry;
}

std::string end_in_words(const Json& entry, int side) {
  const Json& end = entry["interval"][side];
  if (!end.is_null()) return fmt::format("{:.6g}", end.get<double>());
  return entry["at_bound"][side].get<bool>() ? "its bound" : "unknown";
}

} // namespace

Json write_profiles(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                    const FittedDesign& fit) {
  const DesignSpace& space = objective.space();
  const inverse::Uncertainty uncertainty = uncertainty_of(space, fit);
  const double level = uncertainty.variance * uncertainty.quantile * uncertainty.quantile;
  inverse::DesignVariables variables = space.variables();
  variables.start = fit.x;
  objective.use_residuals();
  Json profiles = Json::object();
  for (const int parameter : study.uncertainty.profile) {
    const DesignSpace::Block& block = space.block_of(parameter);
    const ParameterSpec& spec = study.parameters[parameter];
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::string name = name_of_value(study, block, i);
      try {
        const inverse::Profile profile =
            inverse::find_profile(world, objective, variables, block.first + i, level);
        const Json& entry = profiles[name] = describe_profile(profile, spec, level, uncertainty.variance);
        log_info(fmt::format("profile of '{}': 95 % interval from {} to {}, by {} fits of the other values",
                             name, end_in_words(entry, 0), end_in_words(entry, 1),
                             profile.points.size() - 1));
      } catch (const Error& error) {
        if (error.code() != ExitCode::no_solution) throw;
        log_warning(fmt::format("no profile of '{}': {}", name, error.what()));
      }
    }
  }
  return profiles;
}

} // namespace recoil::app
