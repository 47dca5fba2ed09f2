#pragma once

#include <memory>
#include <vector>

#include "recoil/objectives/composition.hpp"
#include "recoil/objectives/objective.hpp"

namespace recoil::objectives {

/// Evaluates the objectives with a weight at state i of a trajectory and notes their values in `composition`;
/// objective k belongs to term k. Collective.
template <int dim>
void observe(const std::vector<std::unique_ptr<Objective<dim>>>& objectives, std::size_t i,
             const ObservedState& state, Composition& composition) {
  for (std::size_t k = 0; k < objectives.size(); ++k)
    if (composition.weight(k, i) != 0) composition.set(k, i, objectives[k]->value(state));
}

/// Adds the derivatives of composition.value() by state i and, at fixed states, by the physical quantities
/// there; after all states have been observed. Collective.
template <int dim>
void add_derivatives(const std::vector<std::unique_ptr<Objective<dim>>>& objectives, std::size_t i,
                     const ObservedState& state, const Composition& composition, std::span<double> du,
                     std::span<double> dv, parameters::PhysicalGradient<dim>& g) {
  for (std::size_t k = 0; k < objectives.size(); ++k)
    if (const double factor = composition.factor(k, i); factor != 0)
      objectives[k]->add_derivatives(state, factor, du, dv, g);
}

} // namespace recoil::objectives
