#pragma once

#include "app/study/apply_parameters.hpp"

namespace recoil::app {

/// A direction in the space of parameter values, drawn from a seed: the same on any number of ranks and in
/// all experiments; components between -1 and 1.
struct Direction {
  int seed = 0;
  int only = -1; ///< index of the one parameter that changes; -1 = all
};

/// What a relative change of a value is relative to: its absolute value, that of the largest start value
/// where it is zero, 1 where all are; of a shape the diagonal of the mesh. Not collective.
template <int dim>
double size_of(const ParameterField<dim>& field, const mesh::DistributedMesh<dim>& mesh, double value);

/// Component of a direction times the size of the value that it changes. `values`: of `field`. Not
/// collective.
template <int dim>
double component_of(const Direction& direction, const ParameterField<dim>& field,
                    const mesh::DistributedMesh<dim>& mesh, const std::vector<double>& values,
                    std::size_t entry);

} // namespace recoil::app
