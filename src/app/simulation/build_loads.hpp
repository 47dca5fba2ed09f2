#pragma once

#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/simulation/cell_overrides.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"

namespace recoil::app {

/// Adds body forces, tractions and pressures of a scene to a problem that has its geometry and Dirichlet
/// conditions, density and mass. `scene` and `overrides` must outlive the problem. Their begin_step throws an
/// InputError on the ranks where a formula has no finite value. Collective.
/// @throws InputError on every rank for a pressure without a potential.
template <int dim>
void add_loads(const Scene& scene, const fem::FunctionSpace<dim>& space, const CellOverrides& overrides,
               solvers::ElastodynamicsProblem<dim>& problem);

} // namespace recoil::app
