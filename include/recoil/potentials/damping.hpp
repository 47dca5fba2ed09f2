#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/parameters/cell_field.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// Strain-rate proportional damping over the step, sum_q w_q W_d(F, F_previous)
/// (laws/strain_rate_damping.hpp), on cells of one order with the quadrature of the elastic energy.
/// @param viscosities psi (shear) and phi (bulk) [Pa s], per cell.
template <int dim>
std::unique_ptr<Potential<dim>>
make_damping(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
             int order, std::vector<LocalIndex> cells, parameters::CellField<2> viscosities);

} // namespace recoil::potentials
