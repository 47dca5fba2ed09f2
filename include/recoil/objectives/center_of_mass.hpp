#pragma once

#include <memory>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/observations.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/mass.hpp"

namespace recoil::objectives {

/// J = |c - target(time)|^2 / sd(time)^2 with the centre of mass c = int rho (X + u) dX / int rho dX,
/// which depends on the density explicitly. Quadrature as for the mass matrix.
/// The density moves with the mesh: the derivative by rest positions does not go through a formula of
/// position. Collective.
/// @throws InputError on every rank where the region has no mass.
template <int dim>
std::unique_ptr<Objective<dim>> make_center_of_mass(Region<dim> region, potentials::Density density,
                                                    Track<dim> target);

/// J = -c_axis [m]: minimising it lifts the centre of mass. Otherwise as make_center_of_mass. Collective.
/// @param axis 0 .. dim - 1. @throws InputError for other axes.
template <int dim>
std::unique_ptr<Objective<dim>> make_height(Region<dim> region, potentials::Density density, int axis);

} // namespace recoil::objectives
