#pragma once

#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/contact/friction.hpp"

namespace recoil::app {

/// What moves the obstacles with this surface id: the first obstacle displacement that names it, else the
/// first Dirichlet value; null if nothing does.
const DirichletEntry* find_obstacle_motion(const BoundaryConditions& conditions, int id);

/// The planes of a scene, numbered after its bodies and obstacles, of which there are `num_before`.
/// @throws InputError for a normal that leaves the plane of a 2D scene. Not collective.
template <int dim>
std::vector<potentials::Plane<dim>> build_planes(const Scene& scene, std::size_t num_before);

/// The friction coefficients of pairs of bodies, obstacles and planes, numbered in this order.
potentials::FrictionCoefficients friction_coefficients(const Scene& scene,
                                                       const std::vector<std::string>& bodies,
                                                       const std::vector<std::string>& obstacles);

/// dhat [m]. @param diagonal of the rest bounding box of the deformable bodies [m].
double contact_distance(const ContactSpec& contact, double diagonal);

} // namespace recoil::app
