#pragma once

#include "app/study/apply_parameters.hpp"
#include "app/study/parameters/parameter_kind.hpp"
#include "recoil/solvers/elastodynamics/sweep_products.hpp"

namespace recoil::app {

/// The transposed product of make_variant(): turns what a reverse sweep finds, derivatives by physical
/// quantities, into derivatives by the values of the parameters.
template <int dim>
class GradientChain {
public:
  /// All arguments must outlive it. Collective.
  GradientChain(DiscreteScene<dim>& discrete, const std::vector<ParameterField<dim>>& fields,
                std::size_t num_objectives);
  GradientChain(const GradientChain&) = delete;
  GradientChain& operator=(const GradientChain&) = delete;

  /// What the sweep adds to; objectives may add their explicit derivatives too.
  solvers::SweepProducts<dim>& products() { return products_; }

  /// Derivatives of objective `objective` by the values of every field, of the shape of ParameterValues:
  /// replicated slots complete on every rank, others on the owner of the slot. Once, after the sweep.
  /// Collective.
  ParameterValues finish(std::size_t objective);

  /// All that has been added on this rank so far, as one list: with set_shares() enough to continue in
  /// another process with the same partition. What is zero takes no place. Not collective.
  std::vector<double> shares();
  /// False where `shares` do not fit this partition and these fields; then this chain may no longer be used.
  /// Not collective.
  bool set_shares(std::span<const double> shares);

private:
  template <class Act>
  void for_each_share(Act act);
  const ParameterActions<dim>& actions(std::size_t k) const;
  void sum_over_ranks(std::size_t k, std::span<double> gradient) const;

  DiscreteScene<dim>& discrete_;
  const std::vector<ParameterField<dim>>& fields_;
  solvers::SweepProducts<dim> products_;
  std::vector<ParameterValues> gradients_; ///< per objective
};

} // namespace recoil::app
