#pragma once

#include "objectives/objective_checks.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/objectives/forces.hpp"

namespace recoil::objectives {

/// Two boxes almost face to face, the second of them also over an edge (3D: two triangles).
template <int dim>
struct Touching {
  parallel::Communicator comm;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  mesh::DistributedObstacles<dim> obstacles;
  potentials::ContactState<dim> contact;
  linalg::Vector u, v;

  explicit Touching(MPI_Comm ranks, Shift shift = {}, potentials::BarrierForm form = {})
      : comm(ranks), mesh(shifted(two_boxes<dim>(comm, 3), shift.of(Along::vertices))), space(mesh, {1, 2}),
        geometry(std::make_shared<const fem::CellGeometry<dim>>(mesh)),
        obstacles(floor(comm, shift.of(Along::obstacle_vertices))), contact(surface(), parameters(form)),
        u(test::rough_field(space, 0.004, 1)), v(test::rough_field(space, 1, 2)) {
    auto values = u.write_local();
    for (std::size_t a = 0; a < space.node_positions().size(); ++a)
      if (space.node_positions()[a][0] > 0.75) values[a * dim] -= 0.47;
    u.add(shift.of(Along::displacement), test::rough_field(space, 1, 11));
    v.add(shift.of(Along::velocity), test::rough_field(space, 1, 12));
  }

  static mesh::DistributedObstacles<dim> floor(const parallel::Communicator& comm, double shift) {
    mesh::SurfaceMesh floor;
    floor.name = "floor";
    if (dim == 2) {
      floor.vertices = {{-2, -0.53, 0}, {3, -0.56, 0}};
      floor.edges = {{0, 1}};
    } else {
      floor.vertices = {{-2, -0.53, -2}, {3, -0.56, -2}, {3, -0.54, 2}, {-2, -0.55, 2}};
      floor.triangles = {{0, 1, 2}, {0, 2, 3}};
    }
    for (std::size_t w = 0; w < floor.vertices.size(); ++w)
      for (int i = 0; i < dim; ++i) floor.vertices[w][i] += shift * direction(static_cast<GlobalIndex>(w), i);
    return mesh::distribute_obstacles<dim>(comm, comm.rank() == 0 ? std::vector{floor}
                                                                  : std::vector<mesh::SurfaceMesh>());
  }
  std::unique_ptr<const surface::Surface<dim>> surface() const {
    return fem::collision_surface<dim>(
        space, obstacles, std::vector<char>(static_cast<std::size_t>(space.num_nodes()) * dim, 0));
  }
  static potentials::ContactParameters<dim> parameters(potentials::BarrierForm form) {
    potentials::ContactParameters<dim> parameters;
    parameters.dhat = 0.1;
    parameters.form = form;
    return parameters;
  }

  /// Obstacles that rise with time.
  ObstacleMotion lifted() const {
    return [n = obstacles.num_vertices()](double time) {
      std::vector<double> motion(static_cast<std::size_t>(n) * dim, 0.0);
      for (std::size_t i = 1; i < motion.size(); i += dim) motion[i] = 0.01 * time;
      return motion;
    };
  }
  ObservedState state(double time = 0.4) const { return {u.local(), v.local(), time}; }
};

} // namespace recoil::objectives
