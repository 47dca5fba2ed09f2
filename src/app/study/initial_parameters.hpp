#pragma once

#include <functional>

#include "app/study/parameter_field.hpp"

namespace recoil::app {

/// Puts the values of an initial displacement or velocity into the nodes of its region; nothing for other
/// quantities. Owned entries.
template <int dim>
void apply_to_initial_state(const ParameterField<dim>& field, std::span<const double> values,
                            const fem::FunctionSpace<dim>& space, stepping::State& state);

/// The transposed product: gradient += y' du_0/dq + z' dv_0/dq, owned shares.
template <int dim>
void add_initial_products(const ParameterField<dim>& field, const fem::FunctionSpace<dim>& space,
                          std::span<const double> y, std::span<const double> z, std::span<double> gradient);

/// gradient += z' dv_0/dq of an initial spin about `centres`, one per body of the mesh; owned shares.
template <int dim>
void add_spin_products(const ParameterField<dim>& field, const fem::FunctionSpace<dim>& space,
                       const std::vector<Eigen::Vector3d>& centres, std::span<const double> z,
                       std::span<double> gradient);

} // namespace recoil::app
