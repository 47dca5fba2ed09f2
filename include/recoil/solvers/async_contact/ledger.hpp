#pragma once

#include <Eigen/Core>

/// What a run has gained and lost since its start, and what it has at a time.
namespace recoil::solvers::async_contact {

/// Impulses and their moments about the origin.
struct ImpulseSums {
  /// On prescribed vertices by what they touch or hold [N s, N m s].
  Eigen::Vector3d wall_impulse = Eigen::Vector3d::Zero(), wall_torque = Eigen::Vector3d::Zero();
  Eigen::Vector3d gravity_impulse = Eigen::Vector3d::Zero(), gravity_torque = Eigen::Vector3d::Zero();
  Eigen::Vector3d load_impulse = Eigen::Vector3d::Zero(), load_torque = Eigen::Vector3d::Zero();
  /// Moment of friction, whose two points are a gap apart [N m s].
  Eigen::Vector3d friction_torque = Eigen::Vector3d::Zero();
};

/// Sums over the impulses of all events. With Totals at the start (0) and now:
///
///     energy - energy_0 = wall_work + load_work - dissipation()
///     momentum + wall_impulse - gravity_impulse - load_impulse = momentum_0
///     angular_momentum + wall_torque - gravity_torque - load_torque - friction_torque = angular_momentum_0
///
/// Momenta hold to rounding, the energy up to the bounded oscillation of a variational integrator.
struct Ledger : ImpulseSums {
  /// What rounding has added to the sums: of millions of equal impulses it would add up.
  ImpulseSums excess;
  double wall_work = 0; ///< that moves prescribed vertices [J]
  double load_work = 0; ///< of loads but gravity [J]

  // Dissipation by cause [J].
  double restitution = 0, friction = 0, stretch_damping = 0, bend_damping = 0, spring_damping = 0,
         plasticity = 0;
  double dissipation() const {
    return restitution + friction + stretch_damping + bend_damping + spring_damping + plasticity;
  }
};

/// Energies [J] and momenta of the vertices that are not prescribed. Energies are those of a motion under
/// forces that act all the time: kinetic energy is without the part of impulses that belongs to times to
/// come, of gravity and, in models with losses, of elements.
struct Totals {
  double kinetic = 0, membrane = 0, bending = 0, spring = 0, solid = 0, gravity = 0, contact = 0, anchor = 0;
  Eigen::Vector3d momentum = Eigen::Vector3d::Zero(), angular_momentum = Eigen::Vector3d::Zero();
  double energy() const { return kinetic + membrane + bending + spring + solid + gravity + contact + anchor; }
};

} // namespace recoil::solvers::async_contact
