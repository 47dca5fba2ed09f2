#include "recoil/app/simulation/load_geometry.hpp"

#include "app/simulation/run_memory.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

/// The rows of node files, which refer to the meshes as they were read.
void read_node_values(const mesh::SimplexMesh& mesh, std::vector<DirichletEntry>& entries) {
  for (DirichletEntry& entry : entries)
    if (!entry.node_file.empty())
      entry.nodes = mesh::read_node_values(entry.node_file, mesh.dim, std::ssize(mesh.vertices), entry.where);
}

} // namespace

LoadedScene load_scene(const parallel::Communicator& comm, const std::filesystem::path& path) {
  LoadedScene loaded;
  SceneFile first =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? read_scene(path) : SceneFile(); });
  comm.broadcast(first.resolved);
  comm.broadcast(first.locations);
  // The first rank too, so that all of them hold the same scene.
  loaded.file =
      parallel::collectively(comm, [&] { return read_resolved(first.resolved, first.locations, path); });
  check_output_fields(loaded.file.scene);
  Scene& scene = loaded.file.scene;
  GlobalIndex dim = 0;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    mesh::MeshFiles files;
    dim = mesh::geometry_dimension(scene.geometry, files);
    loaded.geometry = mesh::assemble_geometry(scene.geometry, static_cast<int>(dim), files);
    validate_against_mesh(scene, loaded.geometry.deformable, loaded.geometry.obstacles,
                          loaded.geometry.empty_selections);
    read_node_values(loaded.geometry.deformable, scene.boundary_conditions.dirichlet);
  });
  loaded.dim = static_cast<int>(comm.max(dim));
  if (comm.rank() != 0) set_dimension(scene, loaded.dim);
  for (DirichletEntry& entry : scene.boundary_conditions.dirichlet) comm.broadcast(entry.nodes);
  require_memory_of_run(comm, loaded);
  return loaded;
}

} // namespace recoil::app
