#pragma once

#include <functional>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/parameters/physical_gradient.hpp"

namespace recoil::solvers {

/// The directions of a tangent-linear sweep: the counterpart of SweepProducts. The functions are collective
/// and may be empty where no parameter asks for them.
template <int dim>
struct SweepDirections {
  using Point = Eigen::Matrix<double, dim, 1>;

  /// One per direction: material, friction, shape, and what the functions put there.
  std::vector<parameters::PhysicalDirection<dim>> changes;
  bool changes_mass = true; ///< false: neither density nor shape changes
  /// Puts the changes of the loads at a time (quantities::traction, quantities::pressure) into `changes`.
  std::function<void(std::size_t direction, double time)> loads;
  /// y = dg/dq dq of the prescribed displacements of the space at a time, on prescribed entries.
  std::function<void(std::size_t direction, double time, double load_factor, linalg::Vector& y)> prescribed;
  /// The same of the obstacles, per owned vertex of the collision surface.
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

} // namespace recoil::solvers
