#pragma once

#include <memory>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"

namespace recoil::app {

/// Which entry of `materials` each local cell has.
template <int dim>
std::vector<int> cell_materials(const Scene& scene, const mesh::DistributedMesh<dim>& mesh);

/// Elastic energies and damping of all cells: one potential per law and order. Collective.
/// @throws InputError on every rank for constants out of range, with the material's place in the scene.
template <int dim>
void add_materials(const Scene& scene, const fem::FunctionSpace<dim>& space,
                   const std::vector<int>& materials, solvers::ElastodynamicsProblem<dim>& problem);

/// rho at a point of a local cell. Element data are read now. Collective.
template <int dim>
potentials::Density make_density(const Scene& scene, const fem::FunctionSpace<dim>& space,
                                 const std::vector<int>& materials);

} // namespace recoil::app
