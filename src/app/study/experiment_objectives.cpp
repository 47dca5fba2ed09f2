#include "app/study/experiment_objectives.hpp"

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

/// @throws InputError on every rank also where the objective has no value at a time at which it is needed.
template <int dim>
std::unique_ptr<objectives::Objective<dim>> make_checked(const OpenObjective<dim>& opened,
                                                         DiscreteScene<dim>& discrete) {
  const ObjectiveSpec& spec = *opened.spec;
  auto objective = opened.make(discrete);
  if (!spec.type->takes_time()) return objective;
  try {
    for (const double time : observed_interval(spec, discrete.scene().time)) objective->check_time(time);
  } catch (const InputError& missing) {
    throw InputError(spec.where.of("target"),
                     std::string(missing.what()) + "; add observations, or look at other states with `time`");
  }
  return objective;
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
  const bool is_static = discrete.scene().time.kind == TimeKind::statics;
  ExperimentObjectives<dim> result;
  for (const OpenObjective<dim>& one : opened) {
    const ObjectiveSpec& spec = *one.spec;
    result.objectives.push_back(make_checked(one, discrete));
    result.terms.push_back(
        {spec.where.of("power"), spec.weight, spec.power, observed_times(spec, is_static)});
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
