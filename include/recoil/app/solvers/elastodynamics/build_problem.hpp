#pragma once

#include <functional>
#include <vector>

#include "recoil/app/solvers/elastodynamics/cell_overrides.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/mesh/distributed_surfaces.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"
#include "recoil/stepping/history.hpp"

namespace recoil::app {

/// Potentials, mass, prescribed values and contact of a scene on `space`. All arguments (`materials` as from
/// cell_materials) must outlive the problem. Collective. @throws InputError on every rank.
template <int dim>
solvers::ElastodynamicsProblem<dim>
build_problem(const Scene& scene, const fem::FunctionSpace<dim>& space, const std::vector<int>& materials,
              const CellOverrides& overrides, const mesh::DistributedObstacles<dim>& obstacles);

/// What the `dirichlet_boundary` of a scene prescribes, an entry of the scene each; `scene` must outlive it.
/// Collective. @throws InputError on every rank.
template <int dim>
std::vector<fem::DirichletCondition> dirichlet_conditions(const Scene& scene,
                                                          const fem::FunctionSpace<dim>& space);

/// Displacement and velocity at the start. `adjust`, where given, changes what the fields of the scene say
/// before its spins are added to the velocity. Collective.
/// @throws InputError on every rank for a formula without a finite value.
template <int dim>
stepping::State initial_state(const Scene& scene, const solvers::ElastodynamicsProblem<dim>& problem,
                              const std::function<void(stepping::State&)>& adjust = {});

/// What a spin turns about: its centre, or the centre of mass of its region. Collective.
template <int dim>
Eigen::Vector3d spin_center(const AngularVelocity& spin, const solvers::ElastodynamicsProblem<dim>& problem);

/// Time stepping and tolerances; `diagonal` is that of the rest bounding box [m].
solvers::ElastodynamicsOptions solver_options(const Scene& scene, int dim, double diagonal);

} // namespace recoil::app
