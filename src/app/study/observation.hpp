#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "app/study/experiment_objectives.hpp"
#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/adjoint/tangent_sweep.hpp"
#include "recoil/objectives/trajectory_objective.hpp"
#include "recoil/solvers/elastodynamics/sweep_directions.hpp"
#include "recoil/solvers/elastodynamics/sweep_products.hpp"

namespace recoil::app {

/// The objectives of an experiment on a discrete scene, which must outlive them as what was opened must, and
/// what they have seen.
template <int dim>
struct Observation {
  ExperimentObjectives<dim> terms;
  objectives::Composition composition;
  /// Of least squares: those of all states by rising time, and where those of a state begin.
  std::vector<double> residuals;
  std::vector<std::size_t> first_residual;

  /// Collective. @throws InputError on every rank.
  Observation(const OpenObjectives<dim>& opened, DiscreteScene<dim>& discrete)
      : terms(make_objectives(opened, discrete)),
        composition(terms.terms, observed_state_times(discrete.scene().time)) {
    if (!objectives::why_not_least_squares<dim>(terms.objectives, composition).empty()) return;
    first_residual = {0};
    for (std::size_t state = 0; state < composition.num_states(); ++state)
      first_residual.push_back(first_residual.back() +
                               objectives::num_residuals<dim>(terms.objectives, state, composition));
    residuals.resize(first_residual.back());
  }

  /// How many data this rank has.
  GlobalIndex num_data(const TimeSpec& time) const {
    GlobalIndex count = 0;
    const std::vector<double> times = observed_state_times(time);
    for (std::size_t state = 0; is_least_squares() && state < times.size(); ++state)
      objectives::for_each_residual_term<dim>(
          terms.objectives, state, composition,
          [&](const auto& objective, double) { count += objective.num_data(times[state]); });
    return count;
  }

  bool is_least_squares() const { return !first_residual.empty(); }
  /// Those of `rows`, in the order of all residuals, that belong to a state.
  template <class Row>
  std::span<Row> rows_of(std::size_t state, std::span<Row> rows) const {
    return rows.subspan(first_residual[state], first_residual[state + 1] - first_residual[state]);
  }

  /// Notes the values of the state of `record`, if objectives look at such a state. Collective.
  void see(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
    if (!is_wanted(record)) return;
    const std::size_t state = record.nominal_step;
    const objectives::ObservedState seen{u.local(), v.local(), record.time};
    objectives::observe<dim>(terms.objectives, state, seen, composition);
    if (is_least_squares())
      std::ranges::copy(objectives::residuals<dim>(terms.objectives, state, seen, composition),
                        rows_of(state, std::span(residuals)).begin());
  }
  /// Whether see() would evaluate anything.
  bool is_wanted(const stepping::StepRecord& record) const {
    if (!record.completes_nominal) return false;
    for (std::size_t k = 0; k < composition.num_terms(); ++k)
      if (composition.weight(k, record.nominal_step) != 0) return true;
    return false;
  }
  /// Weighted terms in the order of the study.
  std::vector<double> values() const {
    std::vector<double> values;
    for (std::size_t k = 0; k < composition.num_terms(); ++k) values.push_back(composition.value(k));
    return values;
  }
};

/// What a reverse sweep starts from: derivatives of the objective of one experiment, or of y' r.
template <int dim>
class ObservedDerivatives final : public adjoint::StateDerivatives {
public:
  /// Both must outlive it. `y` in the order of the residuals; empty: of the objective.
  ObservedDerivatives(const Observation<dim>& observation, std::optional<std::vector<double>> y,
                      solvers::SweepProducts<dim>& products)
      : observation_(observation), y_(std::move(y)), products_(products) {}

  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t objective, const stepping::StepRecord& record, const stepping::State& state,
           linalg::Vector& du, linalg::Vector& dv) override {
    if (!record.completes_nominal) return;
    const auto& terms = observation_.terms.objectives;
    const auto& composition = observation_.composition;
    const std::size_t i = record.nominal_step;
    const objectives::ObservedState seen{state.u.local(), state.v.local(), record.time};
    parameters::PhysicalGradient<dim>& g = products_.gradients[objective];
    if (y_)
      objectives::add_residual_products<dim>(terms, i, seen, composition,
                                             observation_.rows_of(i, std::span<const double>(*y_)),
                                             du.write_owned(), dv.write_owned(), g);
    else
      objectives::add_derivatives<dim>(terms, i, seen, composition, du.write_owned(), dv.write_owned(), g);
    // Where obstacles are at nominal times follows from their motion in full.
    products_.take_obstacles(objective, objectives::quantities::obstacle_positions, record.time, 1);
  }

private:
  const Observation<dim>& observation_;
  std::optional<std::vector<double>> y_;
  solvers::SweepProducts<dim>& products_;
};

/// Gathers how the residuals of one experiment change along the directions of a tangent-linear sweep.
template <int dim>
class ResidualTangents final : public adjoint::StateTangents {
public:
  /// Both must outlive it.
  ResidualTangents(const Observation<dim>& observation, solvers::SweepDirections<dim>& directions)
      : observation_(observation), directions_(directions),
        changes_(directions.changes.size(), std::vector<double>(observation.residuals.size())) {}

  void see(std::size_t direction, const stepping::StepRecord& record, const stepping::State& state,
           const linalg::Vector& du, const linalg::Vector& dv) override {
    if (!observation_.is_wanted(record)) return;
    const std::size_t i = record.nominal_step;
    directions_.put_obstacles(direction, objectives::quantities::obstacle_positions, record.time, 1);
    std::ranges::copy(objectives::residual_tangent<dim>(
                          observation_.terms.objectives, i, {state.u.local(), state.v.local(), record.time},
                          observation_.composition, du.local(), dv.local(), directions_.changes[direction]),
                      observation_.rows_of(i, std::span(changes_[direction])).begin());
  }
  std::vector<double> take(std::size_t direction) { return std::move(changes_[direction]); }

private:
  const Observation<dim>& observation_;
  solvers::SweepDirections<dim>& directions_;
  std::vector<std::vector<double>> changes_; ///< per direction
};

} // namespace recoil::app
