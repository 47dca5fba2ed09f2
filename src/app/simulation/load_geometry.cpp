#include "app/simulation/load_geometry.hpp"

#include "recoil/base/error.hpp"

namespace recoil::app {

LoadedScene load_scene(const parallel::Communicator& comm, const std::filesystem::path& path) {
  LoadedScene loaded;
  std::string text = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? read_scene(path).resolved : std::string(); });
  comm.broadcast(text);
  loaded.file = parallel::collectively(
      comm, [&] { return parse_scene(text, path.string(), std::filesystem::absolute(path).parent_path()); });
  Scene& scene = loaded.file.scene;
  GlobalIndex dim = 0;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    mesh::MeshFiles files;
    dim = mesh::geometry_dimension(scene.geometry, files);
    loaded.geometry = mesh::assemble_geometry(scene.geometry, static_cast<int>(dim), files);
    validate_against_mesh(scene, loaded.geometry.deformable, loaded.geometry.obstacles);
  });
  loaded.dim = static_cast<int>(comm.max(dim));
  if (comm.rank() != 0) set_dimension(scene, loaded.dim);
  return loaded;
}

} // namespace recoil::app
