#pragma once

#include <memory>

#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/mass.hpp"

namespace recoil::objectives {

/// The centre of mass c = int rho (X + u) dX / int rho dX, which depends on the density explicitly; one point
/// with dim numbers. Quadrature as for the mass matrix. The density moves with the mesh: the derivative by
/// rest positions does not go through a formula of position. Collective.
/// @param name of the objective, for messages. @throws InputError on every rank where the region has no mass.
template <int dim>
std::unique_ptr<Observable<dim>> observe_center_of_mass(std::string_view name, const Region<dim>& region,
                                                        potentials::Density density);

/// int (X + u) dX over the rest region [m^(dim+1)], by quadrature exact for nodal fields: the first moment of
/// its volume, which unlike the centre of mass grows with the volume and knows no density; one point with dim
/// numbers. Collective.
template <int dim>
std::unique_ptr<Observable<dim>> observe_volume_moment(const Region<dim>& region);

} // namespace recoil::objectives
