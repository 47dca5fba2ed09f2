#pragma once

#include <memory>
#include <vector>

#include "recoil/app/solvers/elastodynamics/cell_overrides.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/potentials/laws/lame.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"

namespace recoil::app {

/// Which entry of `materials` each local cell has.
template <int dim>
std::vector<int> cell_materials(const Scene& scene, const mesh::DistributedMesh<dim>& mesh);

/// Elastic energies and damping of all cells: one potential per law and order. Collective.
/// @throws InputError on every rank for constants out of range, with the material's place in the scene.
template <int dim>
void add_materials(const Scene& scene, const fem::FunctionSpace<dim>& space,
                   const std::vector<int>& materials, const CellOverrides& overrides,
                   solvers::ElastodynamicsProblem<dim>& problem);

/// rho at a point of a local cell. Element data are read now; the arguments must outlive the result.
/// Collective.
template <int dim>
potentials::Density make_density(const Scene& scene, const fem::FunctionSpace<dim>& space,
                                 const std::vector<int>& materials, const CellOverrides& overrides);

/// How E and nu of a material become lambda and mu.
potentials::LameModel lame_model(const MaterialEntry& entry, int dim);

/// (lambda, mu) [Pa] at the centroid of every local cell, zero where the law has other constants. Collective.
/// @throws InputError as add_materials.
template <int dim>
std::vector<std::array<double, 2>>
cell_lame_constants(const Scene& scene, const fem::FunctionSpace<dim>& space,
                    const std::vector<int>& materials, const CellOverrides& overrides);

/// lambda/mu of small strain at the centroids of the local cells of an order, in the order of
/// FunctionSpace::cells_of_order(): 2 nu/(1 - 2 nu), and what stands for it in plane stress. Collective.
/// @throws InputError as add_materials.
template <int dim>
std::vector<double> cell_lame_ratios(const Scene& scene, const fem::FunctionSpace<dim>& space, int order,
                                     const std::vector<int>& materials, const CellOverrides& overrides);

} // namespace recoil::app
