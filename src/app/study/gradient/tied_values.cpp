#include "app/study/gradient/tied_values.hpp"

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

struct Place {
  std::size_t experiment;
  int field;
};

/// The field of parameter `owner` that the values of a tied one in `experiment` belong to: in the same
/// experiment, or in the first one where it acts.
Place place_of_owner(const Study& study, const GradientJobs& experiments, std::size_t experiment, int owner) {
  const ParameterSpec& spec = study.parameters[owner];
  const std::size_t e = spec.acts_in(experiment) ? experiment : spec.experiments.front();
  return {e, place_in(experiments[e]->model().parameters(), owner)};
}

} // namespace

std::vector<std::string> bodies_of_values(const Study& study, const GradientJobs& experiments,
                                          std::size_t experiment, std::size_t field) {
  const int parameter = experiments[experiment]->model().parameters()[field];
  const auto& tie = study.parameters[parameter].tie;
  if (!tie) return experiments[experiment]->model().bodies(field);
  const Place owner = place_of_owner(study, experiments, experiment, *tie);
  return experiments[owner.experiment]->model().bodies(owner.field);
}

void check_ties(const Study& study, const GradientJobs& experiments) {
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    const std::vector<int> parameters = experiments[e]->model().parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const ParameterSpec& spec = study.parameters[parameters[k]];
      if (!spec.tie) continue;
      const Place owner = place_of_owner(study, experiments, e, *spec.tie);
      const std::size_t own = experiments[e]->model().start_values()[k].size();
      const std::size_t other = experiments[owner.experiment]->model().start_values()[owner.field].size();
      if (own == other) continue;
      throw InputError(
          spec.where.of("tie"),
          fmt::format(
              "'{}' has {} values in experiment '{}', '{}' has {} in experiment '{}'; tie values of the "
              "same number of bodies and steps",
              spec.name, own, study.experiments[e].name, study.parameters[*spec.tie].name, other,
              study.experiments[owner.experiment].name));
    }
  }
}

} // namespace recoil::app
