#pragma once

#include <memory>

#include "app/study/parameters/parameter_kind.hpp"
#include "recoil/inverse/forward_problem.hpp"

namespace recoil::app {

using inverse::ParameterValues;

/// A scene with the values of the parameters in the place of its own.
template <int dim>
struct Variant {
  std::unique_ptr<Scene> scene; ///< stays where it is: the problem refers to it
  std::unique_ptr<DiscreteScene<dim>> discrete;
};

/// Puts values into what the problem of an experiment is built from.
template <int dim>
void apply_parameters(const std::vector<ParameterField<dim>>& fields, const ParameterValues& values,
                      const VariantInputs<dim>& to);

/// Builds the problem of an experiment with the given values and puts its solver at the start.
/// @param scene of the experiment, with a fixed barrier stiffness.
/// @param geometry rest shape of the scene. Collective.
/// @throws InputError on every rank for values that are not admissible: inverted elements, intersections.
template <int dim>
Variant<dim> make_variant(const Scene& scene, const DistributedGeometry<dim>& geometry,
                          const std::vector<ParameterField<dim>>& fields, const ParameterValues& values);

} // namespace recoil::app
