#pragma once

#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/potentials/summand.hpp"
#include "recoil/solvers/elastodynamics/problem.hpp"

/// What holds the bodies of a problem: prescribed nodes and obstacles.
namespace recoil::solvers {

/// Flags of the owned nodes on the facets with an id. Not collective.
template <int dim>
std::vector<char> nodes_on_boundary(const fem::FunctionSpace<dim>& space, std::int32_t id);

/// The terms whose gradients, summed at a prescribed node, are the force [N] (per unit thickness in 2D) that
/// it exerts on the bodies, but for its inertia.
/// @param barrier_stiffness what the barrier is multiplied by in the energy; without meaning where there is
/// no contact. Not collective.
template <int dim>
std::vector<potentials::Summand<dim>> forces_on_nodes(const ElastodynamicsProblem<dim>& problem,
                                                      double barrier_stiffness);

/// Barrier and friction between the bodies and one obstacle. The gradients of the summands, summed over all
/// nodes, are the force that the obstacle exerts on the bodies; they are brought to a state by `update`.
template <int dim>
struct ObstacleForces {
  std::vector<std::unique_ptr<potentials::Potential<dim>>> owned;
  std::vector<potentials::Summand<dim>> summands;
};

/// @param obstacle number as contact counts: bodies, obstacles with a mesh, planes.
/// @pre the problem has contact, which must outlive the result. Not collective.
template <int dim>
ObstacleForces<dim> forces_of_obstacle(const ElastodynamicsProblem<dim>& problem, std::int32_t obstacle,
                                       double barrier_stiffness);

/// A force [N] and its moment about the origin [N m], per unit thickness in 2D.
struct Wrench {
  Eigen::Vector3d force = Eigen::Vector3d::Zero(), moment = Eigen::Vector3d::Zero();
};

/// This rank's shares of what obstacles exert on the bodies at u by barrier, friction and adhesion: the
/// gradients of forces_of_obstacle() summed over all nodes. Contact must be updated to u. Collective.
/// @param obstacles numbers as contact counts.
template <int dim>
std::vector<Wrench> wrenches_of_obstacles(const ElastodynamicsProblem<dim>& problem,
                                          std::span<const std::int32_t> obstacles, const linalg::Vector& u,
                                          double barrier_stiffness);

} // namespace recoil::solvers
