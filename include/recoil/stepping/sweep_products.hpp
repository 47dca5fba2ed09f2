#pragma once

#include <functional>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/parameters/physical_gradient.hpp"

namespace recoil::stepping {

/// The internal variables at the start of the step to the state at hand (State::internal), for objectives
/// that depend on them; taken away after every state.
inline const parameters::Quantity internal_variables{"internal", parameters::Place::internal};

/// Where the reverse sweep of a solver puts what it finds, and what it may leave out. The functions are
/// collective and may be empty where no parameter asks for them. Vectors count on owned entries.
template <int dim>
struct SweepProducts {
  using Point = Eigen::Matrix<double, dim, 1>;

  /// One per objective: materials, loads, friction, shape.
  std::vector<parameters::PhysicalGradient<dim>> gradients;
  bool wants_mass = true; ///< false: neither density nor shape is asked for
  /// Takes from `gradients` what is by loads, which vary in time: after the products of every step.
  std::function<void(std::size_t objective, double time)> loads;
  /// y' dg/dq of the prescribed displacements of the space at a time; only prescribed entries of y count.
  std::function<void(std::size_t objective, double time, double load_factor, const linalg::Vector& y)>
      prescribed;
  /// y' dg/dq of the prescribed positions of obstacles: a vector per owned vertex of the collision surface,
  /// of which the ones of nodes do not count.
  std::function<void(std::size_t objective, double time, double load_factor, const std::vector<Point>& y)>
      obstacles;
  /// Hands an array of derivatives by the positions of obstacles at a time to `obstacles`, and empties it.
  void take_obstacles(std::size_t objective, const parameters::Quantity& positions, double time,
                      double load_factor) {
    auto* by_positions = gradients[objective].find_vectors(positions);
    if (!by_positions || by_positions->empty()) return;
    obstacles(objective, time, load_factor, *by_positions);
    by_positions->clear();
  }

  /// y' dg_u/dq + z' dg_v/dq of the initial displacement and velocity. Prescribed entries count: the
  /// initial displacement is given as it is.
  std::function<void(std::size_t objective, const linalg::Vector& y, const linalg::Vector& z)> initial;
};

/// The directions of a tangent-linear sweep: the counterpart of SweepProducts. The functions are collective
/// and may be empty where no parameter asks for them. Vectors are zero before, and are to be set on owned
/// entries.
template <int dim>
struct SweepDirections {
  using Point = Eigen::Matrix<double, dim, 1>;

  /// One per direction: material, friction, shape, and what the functions put there.
  std::vector<parameters::PhysicalDirection<dim>> changes;
  bool changes_mass = true; ///< false: neither density nor shape changes
  /// Puts the changes of the loads at a time into `changes`.
  std::function<void(std::size_t direction, double time)> loads;
  /// y = dg/dq dq of the prescribed displacements of the space at a time, on prescribed entries.
  std::function<void(std::size_t direction, double time, double load_factor, linalg::Vector& y)> prescribed;
  /// y = dg/dq dq of the positions of obstacles, per owned vertex of the collision surface.
  std::function<void(std::size_t direction, double time, double load_factor, std::vector<Point>& y)>
      obstacles;
  /// Puts the change of the positions of obstacles at a time into `changes`, where these move at all.
  void put_obstacles(std::size_t direction, const parameters::Quantity& positions, double time,
                     double load_factor) {
    auto* of_positions = changes[direction].find_vectors(positions);
    if (obstacles && of_positions) obstacles(direction, time, load_factor, *of_positions);
  }

  /// y = dg_u/dq dq and z = dg_v/dq dq of the initial displacement and velocity.
  std::function<void(std::size_t direction, linalg::Vector& y, linalg::Vector& z)> initial;
};

} // namespace recoil::stepping
