#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/contact/contact_potentials.hpp"

namespace recoil::objectives {

/// Displacement of the local obstacle vertices at a time, dim entries each [m].
using ObstacleMotion = std::function<std::vector<double>(double time)>;

/// J = sum |f_a|^2 over the nodes a of the bodies of the region, f = -stiffness dB/dx the forces of the
/// barrier [N^2]; friction, which depends on two states, is not part of it. The contact is updated to
/// each state that is evaluated, and left there.
/// @param contact of the problem; must outlive the objective.
/// @param stiffness the constant factor of the barrier in the potential G is the gradient of, without the
/// scale of a time step.
/// @param obstacles null where no obstacle moves. Not collective.
/// @throws InputError unless stiffness > 0.
template <int dim>
std::unique_ptr<Objective<dim>> make_contact_force_norm(Region<dim> region,
                                                        potentials::ContactState<dim>& contact,
                                                        double stiffness, ObstacleMotion obstacles = nullptr);

} // namespace recoil::objectives
