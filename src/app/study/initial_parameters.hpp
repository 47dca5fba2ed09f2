#pragma once

#include "app/study/parameter_field.hpp"

namespace recoil::app {

/// Puts the values of an initial displacement or velocity into the nodes of its region; nothing for other
/// quantities. Nodes between two regions take the value that is put there last. Owned entries.
template <int dim>
void apply_to_initial_state(const ParameterField<dim>& field, std::span<const double> values,
                            const fem::FunctionSpace<dim>& space, stepping::State& state);

/// The transposed product of apply_to_initial_state() for all `fields` in their order:
/// gradients[k] += y' du_0/dq_k + z' dv_0/dq_k, owned shares.
template <int dim>
void add_initial_products(const std::vector<ParameterField<dim>>& fields,
                          const fem::FunctionSpace<dim>& space, std::span<const double> y,
                          std::span<const double> z, std::vector<std::vector<double>>& gradients);

/// gradient += z' dv_0/dq of an initial spin about `centres`, one per body of the mesh; owned shares.
template <int dim>
void add_spin_products(const ParameterField<dim>& field, const fem::FunctionSpace<dim>& space,
                       const std::vector<Eigen::Vector3d>& centres, std::span<const double> z,
                       std::span<double> gradient);

} // namespace recoil::app
