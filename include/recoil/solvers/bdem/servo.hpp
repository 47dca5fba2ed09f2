#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/potentials/spheres/sphere_potentials.hpp"

namespace recoil::solvers {

/// A plane that moves along its normal so that it presses on particles with a force.
struct ServoPlane {
  std::size_t plane;                        ///< number among those of the obstacles
  std::function<double(double time)> force; ///< [N], above 0
  double max_speed;                         ///< with which it goes towards particles [m/s]
};

/// Planes under load control, without mass. The way z of each along its normal is an unknown of the step, of
/// which contact energy W less work of the force F is minimised together with that of the particles:
/// z(x) = argmin W(x, z) - F z, where forces of contact add up to F, z at most max_speed dt beyond the start
/// of the step. What is left is a function of x with the gradient dW/dx at z(x) and the Hessian
/// W_xx - W_xz W_zx / W_zz (static condensation), so that F is held in all states of Newton's method.
///
/// Ways and forces have one entry per plane, in the order of the constructor, the same on all ranks. What is
/// not said to be collective is local, but has to be called on every rank alike: all of them have all planes.
class Servo {
public:
  /// `contact` and `barrier` must outlive it. Local.
  Servo(std::vector<ServoPlane> planes, potentials::SphereContact& contact,
        const potentials::SphereBarrierPotential& barrier);

  /// Ways along the normals since the beginning of the run, one entry per plane [m]. Local.
  std::vector<double> ways() const;
  /// Puts the planes there, for a step to start from: one entry per plane, as of `ways()`. Local.
  void put(std::span<const double> ways);
  /// Starts a step of length dt [s] to `time` [s] from where the planes are, with the forces at `time`. Where
  /// dt is 0, as for an initial state, there are none, and planes stay. Local.
  void begin_step(double time, double dt);
  /// Moves the planes to z(x); `u` has 7 numbers an owned particle, position [m] and quaternion. Contact
  /// must have searched for pairs. Collective.
  void balance(std::span<const double> u);
  /// Work of the forces of all planes since the start of the step [J], the same on all ranks. Local.
  double work() const;
  /// Appends W_xz / sqrt(W_zz) [sqrt(N/m)] of each plane that is held by its force, at most one entry per
  /// plane, as of the last update of contact: what has to be taken from the Hessian is the sum of the
  /// products of these columns with themselves. `like` has the layout of the unknowns, 6 numbers an owned
  /// particle; its values do not count. Collective.
  void add_columns(const linalg::Vector& like, std::vector<linalg::Vector>& columns) const;

private:
  struct State {
    double start = 0, way = 0, force = 0, farthest = 0;
    bool balanced = false; ///< by its force, not held back by the speed
  };
  double force_of(std::size_t k, LocalIndex particle, double gap, double& stiffness) const;
  double alone(std::size_t k, LocalIndex particle) const;
  std::array<double, 2> press(std::size_t k, std::span<const double> places, double way) const;
  void balance(std::size_t k, std::span<const double> places);
  LocalIndex obstacle(std::size_t k) const;

  std::vector<ServoPlane> planes_;
  std::vector<State> states_;
  potentials::SphereContact* contact_;
  const potentials::SphereBarrierPotential* barrier_;
};

} // namespace recoil::solvers
