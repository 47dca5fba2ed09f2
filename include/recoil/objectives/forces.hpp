#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/contact/contact_potentials.hpp"
#include "recoil/potentials/summand.hpp"

namespace recoil::objectives {

/// Displacement of the local obstacle vertices at a time, dim entries each [m].
using ObstacleMotion = std::function<std::vector<double>(double time)>;

/// The forces f = -stiffness dB/dx of the barrier on the owned surface vertices [N], zero on bodies outside
/// of the region, on nodes that do not count and on obstacles; dim numbers each. Friction, which depends on
/// two states, is not part of them. The contact is updated to each state that is looked at, and left there.
/// Without tangents.
/// @param contact that of the problem, whose owner outlives the observable, or one with a barrier of its own.
/// @param stiffness the constant factor of the barrier in the potential G is the gradient of, without the
/// scale of a time step.
/// @param obstacles null where no obstacle moves.
/// @param nodes per owned node of the space, whether it counts; empty: all. Not collective.
/// @throws InputError unless stiffness > 0.
template <int dim>
std::unique_ptr<Observable<dim>>
observe_contact_forces(Region<dim> region, std::shared_ptr<potentials::ContactState<dim>> contact,
                       double stiffness, ObstacleMotion obstacles = nullptr, std::vector<char> nodes = {});

/// What bears a force: R = sum_a d . sum_k c_k dPhi_k/du_a over some nodes or particles a, with a unit
/// vector d.
template <int dim>
struct Reaction {
  std::shared_ptr<const linalg::VectorLayout>
      layout; ///< of gradients: d is along the first numbers of a block
  std::vector<potentials::Summand<dim>> summands;
  std::vector<std::unique_ptr<potentials::Potential<dim>>> owned; ///< summands that no problem has
  std::vector<char> nodes;                                        ///< per owned block: it counts
  Eigen::Matrix<double, dim, 1> direction;
  /// Brings the summands to a state: loads, obstacles, lagged friction, what is kept of u. Null where they
  /// know of none. Collective.
  std::function<void(const ObservedState&)> enter_state = nullptr;
  bool depends_on_step = false; ///< they know of the start of the step
};

/// R, the force [N] (per unit thickness in 2D) that supports exert on the bodies; one number. Supports are
/// prescribed nodes, where R balances the forces of the summands, or obstacles, where the summands are their
/// barrier and friction. The inertia of the nodes themselves is not part of it. The summands are left at the
/// state that was looked at. What the reaction refers to must outlive it. Collective.
template <int dim>
std::unique_ptr<Observable<dim>> observe_reaction(Reaction<dim> reaction);

} // namespace recoil::objectives
