#pragma once

#include "recoil/app/run/scene_contact.hpp"
#include "recoil/mesh/distributed_surfaces.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"

namespace recoil::app {

/// Adds contact, friction and the motion of obstacles to a problem whose scene enables contact; nothing
/// otherwise. `scene` and `obstacles` must outlive the problem. Collective.
/// @throws InputError for friction pairs that name no body.
template <int dim>
void add_contact(const Scene& scene, const mesh::DistributedObstacles<dim>& obstacles,
                 solvers::ElastodynamicsProblem<dim>& problem);

} // namespace recoil::app
