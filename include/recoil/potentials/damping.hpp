#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/parameters/cell_field.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// How strain-rate damping measures the rate over a step.
enum class DampingRate {
  green_difference, ///< from the difference of Green strains (StrainRateDamping)
  endpoint          ///< at the end of the step, as in PolyFEM (EndpointRateDamping)
};

/// Strain-rate proportional damping over the step, sum_q w_q W_d(F, F_previous), on cells of one order with
/// the quadrature of the elastic energy.
/// @param viscosities psi (shear) and phi (bulk) [Pa s] (`endpoint`: the same over dt), per cell.
template <int dim>
std::unique_ptr<Potential<dim>>
make_damping(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
             int order, std::vector<LocalIndex> cells, parameters::CellField viscosities,
             DampingRate rate = DampingRate::green_difference);

} // namespace recoil::potentials
