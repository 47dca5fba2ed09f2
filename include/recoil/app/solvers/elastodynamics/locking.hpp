#pragma once

#include <vector>

#include "recoil/app/solvers/elastodynamics/cell_overrides.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::app {

/// Warns once of every body with nearly incompressible cells of order 1. These have about as many constraints
/// det F = 1 as unknowns and are far too stiff (volumetric locking: Hughes, The Finite Element Method, 2000,
/// ch. 4.2). Collective. @throws InputError as add_materials.
template <int dim>
void warn_of_locking(const Scene& scene, const fem::FunctionSpace<dim>& space,
                     const std::vector<int>& materials, const CellOverrides& overrides);

} // namespace recoil::app
