#pragma once

#include <vector>

#include "app/study/experiment_objectives.hpp"
#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/objectives/trajectory_objective.hpp"
#include "recoil/solvers/elastodynamics/sweep_products.hpp"

namespace recoil::app {

/// The objectives of an experiment on a discrete scene, which must outlive them as what was opened must, and
/// what they have seen.
template <int dim>
struct Observation {
  ExperimentObjectives<dim> terms;
  objectives::Composition composition;

  /// Collective. @throws InputError on every rank.
  Observation(const OpenObjectives<dim>& opened, DiscreteScene<dim>& discrete)
      : terms(make_objectives(opened, discrete)),
        composition(terms.terms, observed_state_times(discrete.scene().time)) {}

  /// Notes the values of the state of `record`, if objectives look at such a state. Collective.
  void see(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
    if (record.completes_nominal)
      objectives::observe<dim>(terms.objectives, record.nominal_step, {u.local(), v.local(), record.time},
                               composition);
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

/// The composed objective of one experiment as the sweep sees it.
template <int dim>
class ComposedDerivatives final : public adjoint::StateDerivatives {
public:
  /// Both must outlive it.
  ComposedDerivatives(const Observation<dim>& observation, solvers::SweepProducts<dim>& products)
      : observation_(observation), products_(products) {}

  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t objective, const stepping::StepRecord& record, const stepping::State& state,
           linalg::Vector& du, linalg::Vector& dv) override {
    if (!record.completes_nominal) return;
    parameters::PhysicalGradient<dim>& g = products_.gradients[objective];
    objectives::add_derivatives<dim>(observation_.terms.objectives, record.nominal_step,
                                     {state.u.local(), state.v.local(), record.time},
                                     observation_.composition, du.write_owned(), dv.write_owned(), g);
    // Where obstacles are at nominal times follows from their motion in full.
    products_.take_obstacles(objective, objectives::quantities::obstacle_positions, record.time, 1);
  }

private:
  const Observation<dim>& observation_;
  solvers::SweepProducts<dim>& products_;
};

} // namespace recoil::app
