#pragma once

#include "app/study/apply_parameters.hpp"
#include "app/study/parameters/parameter_kind.hpp"

namespace recoil::app {

/// W = d(physical quantities)/d(values) of all parameters of an experiment at the values that the discrete
/// scene was made with, and its products. All members but changes() and any_enters() are collective.
template <int dim>
class ParameterWeights {
public:
  using Fields = std::vector<ParameterField<dim>>;

  /// Both must outlive it.
  ParameterWeights(DiscreteScene<dim>& discrete, const Fields& fields)
      : discrete_(discrete), fields_(fields) {}

  DiscreteScene<dim>& discrete() const { return discrete_; }
  const Fields& fields() const { return fields_; }
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

private:
  void walk(Enters where, const Moment& at,
            const std::function<TakeWeight(std::size_t k, const parameters::Quantity&)>& taker) const;

  DiscreteScene<dim>& discrete_;
  const Fields& fields_;
};

} // namespace recoil::app
