#include "recoil/app/study/objectives/experiment_objectives.hpp"

#include <algorithm>
#include <cmath>

#include "recoil/base/error.hpp"
#include "recoil/objectives/observation_times.hpp"
#include "recoil/objectives/robust_objective.hpp"

namespace recoil::app {

namespace {

/// An objective and the states that it looks at.
template <int dim>
using LookedAt = std::pair<std::unique_ptr<objectives::Objective<dim>>, objectives::TimeSelection>;

/// @throws InputError on every rank also where the objective has no value at a time at which it is needed.
template <int dim>
LookedAt<dim> make_checked(const OpenObjective<dim>& opened, const Observables<dim>& at) {
  const ObjectiveSpec& spec = *opened.spec;
  const TimeSpec& time = at.scene().time;
  const bool is_static = time.kind == TimeKind::statics;
  auto objective = opened.make(at);
  try {
    if (counts_observations_once(spec, is_static)) {
      auto counted = objectives::count_observations_once(std::move(objective), observed_state_times(time),
                                                         at.follows_velocities());
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

/// With its loss, if it has one: over what it compares with an observation, wherever that lies.
template <int dim>
LookedAt<dim> make_with_loss(const OpenObjective<dim>& opened, const Observables<dim>& at) {
  LookedAt<dim> made = make_checked(opened, at);
  const ObjectiveSpec& spec = *opened.spec;
  if (!spec.loss) return made;
  try {
    made.first = objectives::make_robust<dim>(at.comm(), std::move(made.first), *spec.loss);
  } catch (const InputError& impossible) {
    throw InputError(spec.where.of("loss"), impossible.what());
  }
  return made;
}

/// The terms of the objective, whose values `objectives` will give.
template <int dim>
std::vector<objectives::Term>
make_terms(const OpenObjectives<dim>& opened, const Observables<dim>& at,
           std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives) {
  std::vector<objectives::Term> terms;
  for (const OpenObjective<dim>& one : opened) {
    const ObjectiveSpec& spec = *one.spec;
    auto [objective, states] = make_with_loss(one, at);
    objectives.push_back(std::move(objective));
    terms.push_back({spec.where.of("power"), spec.weight, spec.power, std::move(states)});
  }
  return terms;
}

} // namespace

template <int dim>
OpenObjectives<dim> open_objectives(const Specimen<dim>& at) {
  OpenObjectives<dim> opened;
  for (const auto& spec : at.study.objectives)
    if (spec->experiment == at.experiment) opened.push_back({spec.get(), spec->open(at)});
  return opened;
}

std::vector<double> observed_state_times(const TimeSpec& time) {
  if (time.kind == TimeKind::statics) return {0, 1};
  std::vector<double> times;
  for (int n = 0; n <= time.steps; ++n) times.push_back(time.t0 + n * time.dt);
  return times;
}

template <int dim>
Observation<dim>::Observation(const OpenObjectives<dim>& opened, const Observables<dim>& at)
    : composition(make_terms(opened, at, objectives), observed_state_times(at.scene().time)),
      comm_(at.comm()), times_(observed_state_times(at.scene().time)), has_seen_(composition.num_states()),
      depends_on_steps_(std::ranges::any_of(
          objectives, [](const auto& objective) { return objective->depends_on_step(); })) {
  if (!objectives::why_not_least_squares<dim>(objectives, composition).empty()) return;
  first_residual = {0};
  for (std::size_t state = 0; state < composition.num_states(); ++state)
    first_residual.push_back(first_residual.back() +
                             objectives::num_residuals<dim>(objectives, state, composition));
}

template <int dim>
ObjectiveKind Observation<dim>::kind() const {
  ObjectiveKind kind{objectives::why_not_least_squares<dim>(objectives, composition),
                     objectives::is_chi_squared<dim>(objectives, composition),
                     {},
                     {},
                     {}};
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    kind.has_deviations.push_back(objectives[k]->has_deviations());
    kind.counts_once.push_back(composition.counts_once(k));
    GlobalIndex data = 0, fitted = 0;
    for (std::size_t state = 0; is_least_squares() && state < times_.size(); ++state) {
      if (composition.residual_factor(k, state) == 0) continue;
      data += static_cast<GlobalIndex>(objectives[k]->num_data(times_[state]));
      fitted += objectives[k]->num_fitted_along(times_[state]);
    }
    kind.data_of.push_back(comm_.sum(data) - fitted);
  }
  return kind;
}

template <int dim>
ResidualRows Observation<dim>::rows() const {
  ResidualRows result;
  for (std::size_t k = 0; k < objectives.size(); ++k)
    result.terms.push_back({objectives[k]->observation_names(), composition.counts_once(k),
                            objectives[k]->has_deviations(), objectives[k]->loss()});
  for (std::size_t state = 0; state < times_.size(); ++state)
    for (std::size_t k = 0; k < objectives.size(); ++k) {
      const double factor = composition.residual_factor(k, state);
      if (factor == 0) continue;
      std::vector<objectives::ResidualLabel> labels = objectives[k]->residual_labels(times_[state]);
      labels.resize(objectives[k]->num_residuals());
      for (const objectives::ResidualLabel& label : labels) result.rows.push_back({k, label, factor});
    }
  return result;
}

template <int dim>
std::vector<ForcePeaks> Observation<dim>::peaks(std::span<const double> residuals) const {
  std::vector<ForcePeaks> peaks(objectives.size());
  std::size_t next = 0;
  for (std::size_t state = 0; state < times_.size(); ++state)
    for (std::size_t k = 0; k < objectives.size(); ++k) {
      const double factor = composition.residual_factor(k, state);
      if (factor == 0) continue;
      std::vector<objectives::ResidualLabel> labels = objectives[k]->residual_labels(times_[state]);
      labels.resize(objectives[k]->num_residuals(), {0, 0, 0, false});
      for (const objectives::ResidualLabel& label : labels) {
        const double residual = residuals[next++] / factor;
        if (!label.is_observed) continue;
        if (const auto force = objectives[k]->compared_force(label.time, residual)) {
          peaks[k].observed = std::max(peaks[k].observed, std::abs(force->observed));
          peaks[k].simulated = std::max(peaks[k].simulated, std::abs(force->simulated));
        }
      }
    }
  for (ForcePeaks& peak : peaks) peak = {comm_.max(peak.observed), comm_.max(peak.simulated)};
  return peaks;
}

template <int dim>
void Observation<dim>::see(const stepping::StepRecord& record, const linalg::Vector& u,
                           const linalg::Vector& v, std::span<const double> internal) {
  const bool is_start = record.num_predecessors == 0;
  const bool knows_previous = is_start || (last_ && last_->id == record.predecessors().front());
  if (is_wanted(record) && (knows_previous || !depends_on_steps_)) {
    objectives::ObservedState seen{u.local(), v.local(), record.time, &record};
    if (depends_on_steps_) {
      seen.previous_u = (is_start ? u : last_->u).local();
      seen.previous_internal = is_start ? internal : std::span<const double>(last_->internal);
    }
    evaluate(record.nominal_step, seen);
  }
  if (depends_on_steps_) last_ = Last{record.id, u, {internal.begin(), internal.end()}};
}

template <int dim>
void Observation<dim>::evaluate(std::size_t state, const objectives::ObservedState& seen) {
  has_seen_[state] = true;
  if (!keeps_residuals_) return objectives::observe<dim>(objectives, state, seen, composition);
  std::ranges::copy(objectives::observe_residuals<dim>(comm_, objectives, state, seen, composition),
                    residuals.begin() + first_residual[state]);
}

template <int dim>
bool Observation<dim>::is_wanted(const stepping::StepRecord& record) const {
  if (!record.completes_nominal) return false;
  for (std::size_t k = 0; k < composition.num_terms(); ++k)
    if (composition.weight(k, record.nominal_step) != 0) return true;
  return false;
}

template <int dim>
std::vector<double> Observation<dim>::values() const {
  std::vector<double> values;
  for (std::size_t k = 0; k < composition.num_terms(); ++k) values.push_back(composition.value(k));
  return values;
}

template OpenObjectives<2> open_objectives(const Specimen<2>&);
template OpenObjectives<3> open_objectives(const Specimen<3>&);
template struct Observation<2>;
template struct Observation<3>;

} // namespace recoil::app
