#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/observations.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/contact/contact_potentials.hpp"

namespace recoil::objectives {

/// Displacement of the local obstacle vertices at a time, dim entries each [m].
using ObstacleMotion = std::function<std::vector<double>(double time)>;

/// J = sum |f_a|^2 over the nodes a of the bodies of the region, f = -stiffness dB/dx the forces of the
/// barrier [N^2]; friction, which depends on two states, is not part of it. The contact is updated to
/// each state that is evaluated, and left there.
/// @param contact of the problem; must outlive the objective.
/// @param stiffness the constant factor of the barrier in the potential G is the gradient of, without the
/// scale of a time step.
/// @param obstacles null where no obstacle moves. Not collective.
/// @throws InputError unless stiffness > 0.
template <int dim>
std::unique_ptr<Objective<dim>> make_contact_force_norm(Region<dim> region,
                                                        potentials::ContactState<dim>& contact,
                                                        double stiffness, ObstacleMotion obstacles = nullptr);

/// What bears a force: R = sum_a d . sum_k c_k dPhi_k/du_a over some nodes a, with a unit vector d.
template <int dim>
struct Reaction {
  struct Summand {
    potentials::Potential<dim>* potential;
    double factor;
  };
  std::vector<Summand> summands;
  std::vector<std::unique_ptr<potentials::Potential<dim>>> owned; ///< summands that no problem has
  std::vector<char> nodes;                                        ///< per owned node: it counts
  Eigen::Matrix<double, dim, 1> direction;
  /// Brings loads, obstacles, lagged friction and what else the summands know of a step to that of a state;
  /// null where they know of none. Collective.
  std::function<void(const ObservedState&)> enter_step = nullptr;
};

/// Displacement of what bears a force along the direction of the force at the time of a state [m].
using Travel = std::function<double(double time)>;

/// J = (R - y)^2 / sd^2, R the force [N] (per unit thickness in 2D) that supports exert on the bodies, y and
/// sd observed. Supports are prescribed nodes, where R balances the forces of the summands, or obstacles,
/// where the summands are their barrier and friction. The inertia of the nodes themselves is not part of it.
/// The summands are updated to each state that is evaluated, and left there. `space` and what the reaction
/// refers to must outlive the objective. Collective.
/// @param travel null but for a load curve, which is looked at where the support is.
template <int dim>
std::unique_ptr<Objective<dim>> make_reaction_force(const fem::FunctionSpace<dim>& space,
                                                    Reaction<dim> reaction, Track<1> track,
                                                    Travel travel = nullptr);

} // namespace recoil::objectives
