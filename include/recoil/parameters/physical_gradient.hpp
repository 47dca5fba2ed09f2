#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "recoil/fem/function_space.hpp"

namespace recoil::parameters {

/// Derivative of a scalar by every physical quantity that the terms of a problem are made of: what potentials
/// and objectives add to, and what the parameters of a study are chained from. All entries are this rank's
/// shares. Owned cells and the facets of owned cells are complete here; vertices and friction are sums over
/// ranks.
template <int dim>
struct PhysicalGradient {
  using Point = Eigen::Matrix<double, dim, 1>;
  using BodyPair = std::pair<std::int32_t, std::int32_t>; ///< smaller number first

  /// Zero. `num_obstacle_vertices`: local ones, of mesh::DistributedObstacles.
  explicit PhysicalGradient(const fem::FunctionSpace<dim>& space, LocalIndex num_obstacle_vertices = 0)
      : viscosity(owned_cells(space)), density(owned_cells(space), 0.0),
        acceleration(owned_cells(space), Point::Zero()),
        traction(space.boundary_facets().size(), Point::Zero()),
        pressure(space.boundary_facets().size(), 0.0), vertices(space.mesh().vertices.size(), Point::Zero()),
        obstacle_vertices(num_obstacle_vertices, Point::Zero()) {}

  /// Per owned cell by a constant of its law; zero where the law has no constant of this name.
  std::vector<double>& constant(const std::string& name) {
    return constants.try_emplace(name, density.size(), 0.0).first->second;
  }
  std::map<std::string, std::vector<double>> constants; ///< those that were asked for
  std::vector<std::array<double, 2>> viscosity;         ///< per owned cell: by psi and phi
  std::vector<double> density;                          ///< per owned cell
  std::vector<Point> acceleration; ///< per owned cell: by a body force per mass, uniform in it
  /// Per FunctionSpace::boundary_facets(): by a traction, uniform on the facet, and by a follower pressure.
  /// Zero on facets of ghost cells.
  std::vector<Point> traction;
  std::vector<double> pressure;
  std::map<BodyPair, double> friction; ///< by the coefficients of the pairs of bodies that meet here
  /// By the rest positions of the local mesh vertices, ghosts included, and of the local obstacle vertices.
  /// Nodes on edges, faces and in cells move with the vertices around them.
  std::vector<Point> vertices, obstacle_vertices;
  /// By where obstacles are in the state at hand: a vector per vertex of the collision surface, as
  /// Contact::hessian_product() has them; empty where nothing depends on it. Taken after every state.
  std::vector<Point> obstacle_positions;
  bool wants_shape = true; ///< false: `vertices` and `obstacle_vertices` may be left zero

private:
  static std::size_t owned_cells(const fem::FunctionSpace<dim>& space) {
    return space.mesh().num_owned_cells;
  }
};

} // namespace recoil::parameters
