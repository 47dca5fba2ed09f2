#pragma once

#include <functional>
#include <memory>

#include "recoil/potentials/dead_loads.hpp"

namespace recoil::potentials {

/// Follower pressure: force p n per deformed area along the outward normal, positive pulls outwards. Its
/// potential is -f p V with the load factor f and V = 1/dim int x.n da, the volume that the chosen facets
/// enclose (up to a constant for a surface whose rim does not move). V is integrated on the curved facets
/// themselves, exactly.
///
/// Its derivatives by quantities::pressure are the products with the force of each facet's own cone -f
/// dV/dx, which is f p n da only in the sum over the facets.
///
/// @param pressure p at a time [Pa]; the same on all facets, or there is no potential.
/// @throws InputError on every rank, with `where`, if the facets' surface has a rim that `prescribed` (one
/// flag per local entry) does not hold in all components: there is no potential then. Collective.
template <int dim>
std::unique_ptr<Potential<dim>>
make_pressure(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
              FacetSelection facets, std::function<double(double time)> pressure,
              std::span<const char> prescribed, const std::string& where);

} // namespace recoil::potentials
