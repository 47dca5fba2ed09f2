#pragma once

#include "app/study/parameters/parameter_weights.hpp"
#include "recoil/solvers/elastodynamics/sweep_directions.hpp"

namespace recoil::app {

/// The derivative of make_variant(), the transpose of GradientChain: turns changes of the values of the
/// parameters into changes of physical quantities.
template <int dim>
class TangentChain {
public:
  /// `changes`: one per direction, with ghost slots as values have. `discrete` and `fields` must outlive it.
  /// Collective.
  TangentChain(DiscreteScene<dim>& discrete, const std::vector<ParameterField<dim>>& fields,
               std::vector<ParameterValues> changes);
  TangentChain(const TangentChain&) = delete;
  TangentChain& operator=(const TangentChain&) = delete;

  /// What the sweep asks for; objectives may look at the changes too.
  solvers::SweepDirections<dim>& directions() { return directions_; }

private:
  void add(Enters where, std::size_t direction, const Moment& at, const auto& entries) const {
    weights_.add_product(where, at, changes_[direction], entries);
  }
  void add_functions();

  ParameterWeights<dim> weights_;
  std::vector<ParameterValues> changes_;
  solvers::SweepDirections<dim> directions_;
};

} // namespace recoil::app
