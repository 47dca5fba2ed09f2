#include "recoil/app/run/load_scene.hpp"

#include "recoil/app/run/solver_kind.hpp"

namespace recoil::app {

LoadedScene load_scene(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const SolverKinds& solvers, const std::string& text) {
  const SceneFormat& format = solvers.format();
  SceneFile first = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return SceneFile();
    if (text.empty()) return read_scene(path, format);
    return parse_scene(text, path.string(), std::filesystem::current_path(), format);
  });
  comm.broadcast(first.resolved);
  comm.broadcast(first.locations);
  LoadedScene loaded;
  // The first rank too, so that all of them hold the same scene.
  loaded.file = parallel::collectively(
      comm, [&] { return read_resolved(first.resolved, first.locations, path, format); });
  const Scene& scene = loaded.file.scene;
  check_output_fields(scene);
  loaded.solver = &solvers.of(scene);
  const auto shape = [&](const auto& entry) {
    return loaded.solver->shape ? loaded.solver->shape(scene, entry.name) : loaded.solver->bodies;
  };
  static_cast<LoadedGeometry&>(loaded) = load_geometry(
      comm, scene.geometry, shape, loaded.solver->takes_slices ? least_cells_in_slices : never_in_slices);
  loaded.solver->check_geometry(comm, loaded);
  return loaded;
}

} // namespace recoil::app
