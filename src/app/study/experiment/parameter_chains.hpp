#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "recoil/app/study/fields/parameter_values.hpp"
#include "recoil/mesh_motion/boundary_extension.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/stepping/sweep_products.hpp"

/// The derivative of make_variant() and its transpose, between values of parameters and physical quantities.
namespace recoil::app {

/// How the values of a field change physical quantities that enter the equations in one place.
struct FieldWeights {
  std::size_t field; ///< number among those of the experiment
  Enters enters;
  std::vector<parameters::Quantity> quantities;
  /// Gives all derivatives of a quantity by the values that are not zero: at the places of a
  /// PhysicalDirection, or of owned entries of vectors. Collective.
  std::function<void(const parameters::Quantity&, const Moment&, const TakeWeight&)> give;
};

/// W = d(physical quantities)/d(values) of all parameters of an experiment at the values that its problem was
/// made with, and its products. Both sides are in SI units, as scenes and studies have them. What it refers
/// to must outlive it.
template <int dim>
struct ParameterWeights {
  const ParameterFields<dim>& fields;
  std::vector<FieldWeights> all = {};

  /// Whether some parameter has values that enter there. Not collective, the same on every rank; so are the
  /// next two.
  bool any_enters(Enters where) const;
  /// Whether the values of some parameter change a quantity.
  bool changes(const parameters::Quantity& quantity) const;
  /// Whether they change the mass matrix, by the density or the shape.
  bool changes_mass() const {
    return changes(parameters::quantities::density) || changes(parameters::quantities::vertices);
  }

  /// entries(quantity) += W values, for the fields that enter there.
  /// @param at when, for what depends on time
  /// @param values of all fields, those of ghost slots included
  /// @param entries gives this rank's array of a quantity, number by number: at the places of a
  /// PhysicalDirection, or of owned entries for what is prescribed and for the initial state
  /// Collective.
  template <class Entries>
  void add_product(Enters where, const Moment& at, const ParameterValues& values, Entries entries) const {
    walk(where, at, [&](std::size_t k, const parameters::Quantity& quantity, const ShowWeights& show) {
      const std::span<double> to = entries(quantity);
      const auto add_to = [&](std::span<double> target) {
        show([from = std::span(values[k]), target](std::size_t value, std::size_t entry, double weight) {
          target[entry] += weight * from[value];
        });
      };
      if (!fields[k].extension) return add_to(to);
      std::vector<double> moved(to.size(), 0.0);
      add_to(moved);
      fields[k].extension->extend(moved);
      std::ranges::transform(to, moved, to.begin(), std::plus());
    });
  }
  /// values += W' entries(quantity), the transpose with the same arguments: this rank's shares, which are to
  /// be summed over the copies of a slot. An array that ends before an entry has nothing there: it is that of
  /// another rank. Collective.
  template <class Entries>
  void add_transposed(Enters where, const Moment& at, Entries entries, ParameterValues& values) const {
    walk(where, at, [&](std::size_t k, const parameters::Quantity& quantity, const ShowWeights& show) {
      std::span<const double> from = entries(quantity);
      std::vector<double> led;
      if (fields[k].extension) {
        led.assign(from.begin(), from.end());
        fields[k].extension->extend_transposed(led);
        from = led;
      }
      show([from, to = std::span(values[k])](std::size_t value, std::size_t entry, double weight) {
        if (entry < from.size()) to[value] += weight * from[entry];
      });
    });
  }

private:
  /// Shows all weights that are not zero.
  using ShowWeights = std::function<void(const TakeWeight&)>;
  /// visit(k, quantity, show) for the quantities of all fields that enter there. Collective.
  void walk(
      Enters where, const Moment& at,
      const std::function<void(std::size_t k, const parameters::Quantity&, const ShowWeights&)>& visit) const;
};

/// Turns what a reverse sweep finds, derivatives by physical quantities, into derivatives by the values of
/// the parameters.
template <int dim>
class GradientChain {
public:
  /// Adds what ranks have at their copies of mesh vertices, `width` numbers per local vertex, to the owners.
  using AddToVertexOwners = std::function<void(int width, std::span<double> values)>;

  /// `zero`: the gradient that the sweep adds to. `add_to_owners` may be empty where no field has values per
  /// vertex or moves vertices. Collective.
  GradientChain(ParameterWeights<dim> weights, const parallel::Communicator& comm,
                parameters::PhysicalGradient<dim> zero, AddToVertexOwners add_to_owners = {});
  GradientChain(const GradientChain&) = delete;
  GradientChain& operator=(const GradientChain&) = delete;

  /// What the sweep adds to, one gradient: derivatives of J by physical quantities [unit of J per SI unit].
  /// Objectives may add their explicit derivatives too. Not collective; the functions in it are.
  stepping::SweepProducts<dim>& products() { return products_; }

  /// dJ/dq by the values of every field, of the shape of ParameterValues: replicated slots complete on every
  /// rank, others on the owner of the slot; 0 at ghost slots of vertices. Once, after the sweep. Collective.
  ParameterValues finish();

  /// All arrays that the sweep has added to so far, this rank's parts under names that are the same on every
  /// rank, as inverse::AdjointProblem::gathered(): a sweep continues from a copy of them. Not collective.
  std::vector<inverse::GatheredArray> gathered();

private:
  void sum_over_ranks(std::size_t k, std::span<double> gradient) const;

  ParameterWeights<dim> weights_;
  const parallel::Communicator& comm_;
  AddToVertexOwners add_to_owners_;
  stepping::SweepProducts<dim> products_;
  ParameterValues gradient_;
};

/// The transpose of GradientChain: turns changes of the values of the parameters into changes of physical
/// quantities.
template <int dim>
class TangentChain {
public:
  /// `changes`: dq of all values, one per direction, with ghost slots as values have. `zero`: no change of
  /// anything that has one along some direction. Collective.
  TangentChain(ParameterWeights<dim> weights, const parameters::PhysicalDirection<dim>& zero,
               std::vector<ParameterValues> changes);
  TangentChain(const TangentChain&) = delete;
  TangentChain& operator=(const TangentChain&) = delete;

  /// What the sweep asks for: a change of every physical quantity per direction [SI unit of the quantity].
  /// Objectives may look at the changes too. Not collective; the functions in it are.
  stepping::SweepDirections<dim>& directions() { return directions_; }

private:
  ParameterWeights<dim> weights_;
  std::vector<ParameterValues> changes_;
  stepping::SweepDirections<dim> directions_;
};

/// The chains of an experiment of finite elements, at the values that `discrete` was made with by
/// make_variant(), for the sum of `objectives` and along `changes`. Arguments must outlive them. Collective.
template <int dim>
GradientChain<dim> gradient_chain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
                                  const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives);
template <int dim>
TangentChain<dim> tangent_chain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
                                std::vector<ParameterValues> changes);

} // namespace recoil::app
