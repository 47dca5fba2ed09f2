#include "recoil/objectives/observation_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"

namespace recoil::objectives {

namespace {

std::size_t nearest(std::span<const double> ascending, double time) {
  const std::size_t after = std::ranges::lower_bound(ascending, time) - ascending.begin();
  if (after == 0) return 0;
  if (after == ascending.size()) return after - 1;
  return time - ascending[after - 1] <= ascending[after] - time ? after - 1 : after;
}

template <int dim>
class AtObservationTimes final : public Objective<dim> {
public:
  /// @param times per state those of the observations that belong to it.
  AtObservationTimes(std::unique_ptr<Objective<dim>> objective, std::span<const double> state_times,
                     std::map<std::size_t, std::vector<double>> times)
      : objective_(std::move(objective)), state_times_(state_times.begin(), state_times.end()),
        times_(std::move(times)) {
    for (const auto& [state, list] : times_) most_ = std::max(most_, list.size());
  }

  std::string_view name() const override { return objective_->name(); }
  std::vector<Quantity> depends_on() const override {
    auto all = objective_->depends_on();
    if (!holds(all, quantities::velocity)) all.push_back(quantities::velocity);
    return all;
  }
  std::vector<double> observation_times() const override { return objective_->observation_times(); }

  double value(const ObservedState& state) override {
    double sum = 0;
    for (const double time : times_at(state.time)) sum += objective_->value(moved(state, time));
    return sum;
  }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) override {
    for (const double time : times_at(state.time)) {
      std::vector<double> by_u(du.size(), 0.0);
      objective_->add_derivatives(moved(state, time), factor, by_u, dv, g);
      add_transposed(by_u, delay(state, time), du, dv);
    }
  }

  bool is_least_squares() const override { return objective_->is_least_squares(); }
  std::size_t num_residuals() const override { return most_ * objective_->num_residuals(); }
  ObservationNames observation_names() const override { return objective_->observation_names(); }
  std::vector<ResidualLabel> residual_labels(double time) const override {
    std::vector<ResidualLabel> all;
    for (const double observed : times_at(time)) append(all, objective_->residual_labels(observed));
    all.resize(num_residuals(), {0, 0, time, false});
    return all;
  }

  int num_fitted_along(double time) const override {
    int sum = 0;
    for (const double observed : times_at(time)) sum += objective_->num_fitted_along(observed);
    return sum;
  }
  bool has_deviations() const override { return objective_->has_deviations(); }
  std::optional<ComparedForce> compared_force(double time, double residual) const override {
    return objective_->compared_force(time, residual);
  }

  /// The residuals of one observation time after the other; 0 for what other states have more of.
  std::vector<double> residuals(const ObservedState& state) override {
    std::vector<double> all;
    for (const double time : times_at(state.time)) append(all, objective_->residuals(moved(state, time)));
    all.resize(num_residuals(), 0.0);
    return all;
  }

  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double> dv,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    std::vector<double> all;
    for (const double time : times_at(state.time)) {
      const ObservedState at = moved(state, time);
      const std::vector<double> du_then = combined(du, delay(state, time), dv);
      append(all, objective_->residual_tangent(at, du_then, dv, dq));
    }
    all.resize(num_residuals(), 0.0);
    return all;
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    std::size_t first = 0;
    const std::size_t rows = objective_->num_residuals();
    for (const double time : times_at(state.time)) {
      std::vector<double> by_u(du.size(), 0.0);
      objective_->add_residual_products(moved(state, time), y.subspan(first, rows), by_u, dv, g);
      add_transposed(by_u, delay(state, time), du, dv);
      first += rows;
    }
  }

  bool depends_on_step() const override { return objective_->depends_on_step(); }
  std::vector<double> previous_tangent(const ObservedState& state,
                                       std::span<const double> previous_du) override {
    std::vector<double> all;
    for (const double time : times_at(state.time))
      append(all, objective_->previous_tangent(moved(state, time), previous_du));
    all.resize(num_residuals(), 0.0);
    return all;
  }
  void add_previous_products(const ObservedState& state, std::span<const double> y,
                             std::span<double> previous_du) override {
    std::size_t first = 0;
    const std::size_t rows = objective_->num_residuals();
    for (const double time : times_at(state.time)) {
      objective_->add_previous_products(moved(state, time), y.subspan(first, rows), previous_du);
      first += rows;
    }
  }

private:
  const std::vector<double>& times_at(double state_time) const {
    static const std::vector<double> none;
    const auto found = times_.find(nearest(state_times_, state_time));
    return found == times_.end() ? none : found->second;
  }

  static std::vector<double> combined(std::span<const double> u, double factor, std::span<const double> v) {
    std::vector<double> sum(u.begin(), u.end());
    if (factor != 0)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * v[i];
    return sum;
  }

  /// The state at another time; its displacements stay until the next one.
  ObservedState moved(const ObservedState& state, double time) {
    u_ = combined(state.u, delay(state, time), state.v);
    return {u_, state.v, time, state.record, state.previous_u, state.previous_internal};
  }

  static void add_transposed(std::span<const double> by_u, double factor, std::span<double> du,
                             std::span<double> dv) {
    for (std::size_t i = 0; i < du.size(); ++i) {
      du[i] += by_u[i];
      if (factor != 0) dv[i] += factor * by_u[i];
    }
  }

  template <class Entry>
  static void append(std::vector<Entry>& all, const std::vector<Entry>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  /// From the state until `time`, 0 where that is the same but for rounding.
  double delay(const ObservedState& state, double time) const {
    const double difference = time - state.time;
    return std::abs(difference) <= time_tolerance(state_times_) ? 0 : difference;
  }

  std::unique_ptr<Objective<dim>> objective_;
  std::vector<double> state_times_;
  std::map<std::size_t, std::vector<double>> times_;
  std::size_t most_ = 0; ///< at one state
  std::vector<double> u_;
};

} // namespace

template <int dim>
CountedOnce<dim> count_observations_once(std::unique_ptr<Objective<dim>> objective,
                                         std::span<const double> state_times, bool has_velocities) {
  const double tolerance = time_tolerance(state_times);
  const std::vector<double> observed = objective->observation_times();
  std::map<std::size_t, std::vector<double>> times;
  ChosenSteps states;
  for (const double time : observed) {
    if (time < state_times.front() - tolerance || time > state_times.back() + tolerance) continue;
    const std::size_t state = nearest(state_times, time);
    if (!has_velocities && std::abs(time - state_times[state]) > tolerance) {
      throw InputError(fmt::format("there is an observation at {:.12g} s, between the states at {:.12g} s "
                                   "and next to it, and only the "
                                   "velocities of finite elements with inertia say how bodies move there; "
                                   "choose steps that end at the "
                                   "observations",
                                   time, state_times[state]));
    }
    times[state].push_back(time);
  }
  if (times.empty()) {
    std::string text = fmt::format("no observation lies within the run, {:.12g} s to {:.12g} s",
                                   state_times.front(), state_times.back());
    if (!observed.empty())
      text += fmt::format("; they run from {:.12g} s to {:.12g} s", observed.front(), observed.back());
    throw InputError(text);
  }
  for (const auto& [state, list] : times) states.steps.push_back(state);
  return {std::make_unique<AtObservationTimes<dim>>(std::move(objective), state_times, std::move(times)),
          std::move(states)};
}

template CountedOnce<2> count_observations_once(std::unique_ptr<Objective<2>>, std::span<const double>, bool);
template CountedOnce<3> count_observations_once(std::unique_ptr<Objective<3>>, std::span<const double>, bool);

} // namespace recoil::objectives
