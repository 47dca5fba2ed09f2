#pragma once

#include "app/study/parameters/parameter_values.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/solvers/elastodynamics/sweep_products.hpp"

/// The derivative of make_variant() and its transpose, between values of parameters and physical quantities.
namespace recoil::app {

/// W = d(physical quantities)/d(values) of all parameters of an experiment at the values that the discrete
/// scene was made with, and its products, which are collective. What it refers to must outlive it.
template <int dim>
struct ParameterWeights {
  DiscreteScene<dim>& discrete;
  const ParameterFields<dim>& fields;

  bool any_enters(Enters where) const;
  bool changes(const parameters::Quantity& quantity) const;
  /// Neither density nor shape: false.
  bool changes_mass() const {
    return changes(parameters::quantities::density) || changes(parameters::quantities::vertices);
  }

  /// entries(quantity) += W values, for the fields that enter there. `values` have those of ghost slots, as
  /// make_variant() asks for.
  template <class Entries>
  void add_product(Enters where, const Moment& at, const ParameterValues& values, Entries entries) const {
    walk(where, at, [&](std::size_t k, const parameters::Quantity& quantity) -> TakeWeight {
      return [from = std::span(values[k]), to = std::span<double>(entries(quantity))](
                 std::size_t value, std::size_t entry, double weight) { to[entry] += weight * from[value]; };
    });
  }
  /// values += W' entries(quantity): this rank's shares. Entries end where those of other ranks begin.
  template <class Entries>
  void add_transposed(Enters where, const Moment& at, Entries entries, ParameterValues& values) const {
    walk(where, at, [&](std::size_t k, const parameters::Quantity& quantity) -> TakeWeight {
      return [from = std::span<const double>(entries(quantity)),
              to = std::span(values[k])](std::size_t value, std::size_t entry, double weight) {
        if (entry < from.size()) to[value] += weight * from[entry];
      };
    });
  }
  void walk(Enters where, const Moment& at,
            const std::function<TakeWeight(std::size_t k, const parameters::Quantity&)>& taker) const;
};

/// The transposed product of make_variant(): turns what a reverse sweep finds, derivatives by physical
/// quantities, into derivatives by the values of the parameters.
template <int dim>
class GradientChain {
public:
  /// For the sum of `objectives`. All arguments must outlive it. Collective.
  GradientChain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
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

/// The derivative of make_variant(), the transpose of GradientChain: turns changes of the values of the
/// parameters into changes of physical quantities.
template <int dim>
class TangentChain {
public:
  /// `changes`: one per direction, with ghost slots as values have. `discrete` and `fields` must outlive it.
  /// Collective.
  TangentChain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
               std::vector<ParameterValues> changes);
  TangentChain(const TangentChain&) = delete;
  TangentChain& operator=(const TangentChain&) = delete;

  /// What the sweep asks for; objectives may look at the changes too.
  solvers::SweepDirections<dim>& directions() { return directions_; }

private:
  ParameterWeights<dim> weights_;
  std::vector<ParameterValues> changes_;
  solvers::SweepDirections<dim> directions_;
};

} // namespace recoil::app
