#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recoil/app/scene/read_scene.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/mesh/distributed_surfaces.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/potentials/contact/contact_potentials.hpp"

namespace recoil::bench {

/// The meshes of a 3D scene as it starts, cut into one part per rank as recoil does. Only what counts for the
/// cost of contact is kept: elements are linear, nothing is prescribed, planes are left out.
struct SceneSurface {
  app::Scene scene;
  mesh::DistributedMesh<3> mesh;
  mesh::DistributedObstacles<3> obstacles;
  fem::FunctionSpace<3> space;

  /// Collective. @throws InputError on every rank.
  SceneSurface(const parallel::Communicator& comm, const std::string& path)
      : SceneSurface(comm, app::read_scene(path, app::all_solvers().format()).scene) {}
  SceneSurface(const SceneSurface&) = delete;
  SceneSurface& operator=(const SceneSurface&) = delete;

  /// The object must outlive the surface. Collective.
  std::unique_ptr<const surface::Surface<3>> surface() const {
    const std::vector<char> prescribed(static_cast<std::size_t>(space.num_nodes()) * 3, 0);
    return fem::collision_surface<3>(space, obstacles, prescribed);
  }

  double dhat() const {
    return scene.contact.dhat_relative
               ? *scene.contact.dhat_relative * (mesh.max_corner - mesh.min_corner).norm()
               : scene.contact.dhat;
  }

private:
  SceneSurface(const parallel::Communicator& comm, const app::Scene& read)
      : SceneSurface(comm, read, assemble(comm, read)) {}
  SceneSurface(const parallel::Communicator& comm, const app::Scene& read,
               const mesh::AssembledGeometry& geometry)
      : scene(read), mesh(mesh::distribute<3>(comm, geometry.deformable)),
        obstacles(mesh::distribute_obstacles<3>(comm, geometry.obstacles)),
        space(mesh, std::vector<int>(mesh.body_names.size(), 1)) {}

  /// Everything on rank 0, nothing elsewhere.
  static mesh::AssembledGeometry assemble(const parallel::Communicator& comm, const app::Scene& scene) {
    mesh::AssembledGeometry geometry;
    parallel::collectively(comm, [&] {
      if (comm.rank() == 0) geometry = mesh::assemble_geometry(scene.geometry, 3);
    });
    geometry.deformable.dim = 3;
    return geometry;
  }
};

/// Vertices, edges and faces over all ranks. Collective.
inline GlobalIndex count_primitives(const surface::Surface<3>& surface) {
  return surface.comm().sum(static_cast<GlobalIndex>(surface.edges().size() + surface.faces().size()) +
                            surface.num_owned());
}

} // namespace recoil::bench
