#pragma once

#include <array>

#include "recoil/app/study/study.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/objectives/target.hpp"

namespace recoil::app {

/// The field that an objective is measured against, displacements or positions (rest mesh plus displacement),
/// from `spec.reference`: a run folder on the same mesh, linear in time between its stored states, or an HDF5
/// file with one array `u` for all times, a row of dim numbers [m] per node in the order of the trajectory
/// (of order 1: the vertices of all bodies in the order of the mesh files). Collective, also when it is
/// called.
/// @throws InputError on every rank where the reference has another number of nodes or does not reach both
/// ends of `interval` [s].
template <int dim>
objectives::ReferenceField nodal_reference(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space,
                                           bool positions, const std::array<double, 2>& interval);

} // namespace recoil::app
