#pragma once

#include <memory>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/region.hpp"

namespace recoil::objectives {

/// J = int (X + u)_axis dX over the rest region [m^(dim+1)], by quadrature exact for nodal fields: the first
/// moment of its volume, which unlike the centre of mass grows with the volume and knows no density.
/// Collective. @throws InputError for an axis that is not 0 to dim - 1.
template <int dim>
std::unique_ptr<Objective<dim>> make_position_integral(Region<dim> region, int axis);

} // namespace recoil::objectives
