#pragma once

#include "app/study/parameters/parameter_weights.hpp"
#include "recoil/inverse/forward_problem.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/solvers/elastodynamics/sweep_products.hpp"

namespace recoil::app {

/// The transposed product of make_variant(): turns what a reverse sweep finds, derivatives by physical
/// quantities, into derivatives by the values of the parameters.
template <int dim>
class GradientChain {
public:
  /// For the sum of `objectives`. All arguments must outlive it. Collective.
  GradientChain(DiscreteScene<dim>& discrete, const std::vector<ParameterField<dim>>& fields,
                const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives);
  GradientChain(const GradientChain&) = delete;
  GradientChain& operator=(const GradientChain&) = delete;

  /// What the sweep adds to; objectives may add their explicit derivatives too.
  solvers::SweepProducts<dim>& products() { return products_; }

  /// Derivatives by the values of every field, of the shape of ParameterValues: replicated slots complete on
  /// every rank, others on the owner of the slot. Once, after the sweep. Collective.
  ParameterValues finish();

  /// As inverse::AdjointProblem::gathered().
  std::vector<inverse::GatheredArray> gathered();

private:
  void sum_over_ranks(std::size_t k, std::span<double> gradient) const;

  ParameterWeights<dim> weights_;
  solvers::SweepProducts<dim> products_;
  ParameterValues gradient_;
};

} // namespace recoil::app
