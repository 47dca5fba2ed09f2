#include "app/study/experiment_objectives.hpp"

#include "recoil/base/error.hpp"
#include "recoil/objectives/observation_times.hpp"

namespace recoil::app {

namespace {

/// An objective and the states that it looks at.
template <int dim>
struct Timed {
  std::unique_ptr<objectives::Objective<dim>> objective;
  objectives::TimeSelection time;
};

/// @throws InputError on every rank also where the objective has no value at a time at which it is needed.
template <int dim>
Timed<dim> make_checked(const OpenObjective<dim>& opened, DiscreteScene<dim>& discrete) {
  const ObjectiveSpec& spec = *opened.spec;
  const TimeSpec& time = discrete.scene().time;
  const bool is_static = time.kind == TimeKind::statics;
  auto objective = opened.make(discrete);
  try {
    if (counts_observations_once(spec, is_static)) {
      auto counted = objectives::count_observations_once(std::move(objective), observed_state_times(time),
                                                         time.kind == TimeKind::dynamic);
      return {std::move(counted.objective), std::move(counted.states)};
    }
    if (spec.type->takes_time())
      for (const double end : observed_interval(spec, time)) objective->check_time(end);
  } catch (const InputError& missing) {
    throw InputError(spec.where.of("target"),
                     std::string(missing.what()) + "; add observations, or look at other states with `time`");
  }
  return {std::move(objective), observed_times(spec, is_static)};
}

} // namespace

template <int dim>
OpenObjectives<dim> open_objectives(const ExperimentMesh<dim>& at) {
  OpenObjectives<dim> opened;
  for (const auto& spec : at.study.objectives)
    if (spec->experiment == at.experiment) opened.push_back({spec.get(), spec->open(at)});
  return opened;
}

template <int dim>
ExperimentObjectives<dim> make_objectives(const OpenObjectives<dim>& opened, DiscreteScene<dim>& discrete) {
  ExperimentObjectives<dim> result;
  for (const OpenObjective<dim>& one : opened) {
    const ObjectiveSpec& spec = *one.spec;
    Timed<dim> made = make_checked(one, discrete);
    result.objectives.push_back(std::move(made.objective));
    result.terms.push_back({spec.where.of("power"), spec.weight, spec.power, std::move(made.time)});
  }
  return result;
}

std::vector<double> observed_state_times(const TimeSpec& time) {
  if (time.kind == TimeKind::statics) return {0, 1};
  std::vector<double> times;
  for (int n = 0; n <= time.steps; ++n) times.push_back(time.t0 + n * time.dt);
  return times;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template OpenObjectives<dim> open_objectives(const ExperimentMesh<dim>&);                                  \
  template ExperimentObjectives<dim> make_objectives(const OpenObjectives<dim>&, DiscreteScene<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
