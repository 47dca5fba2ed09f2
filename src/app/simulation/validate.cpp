#include <fmt/format.h>

#include "recoil/app/simulation/discrete_scene.hpp"
#include "recoil/app/simulation/inspect.hpp"
#include "recoil/base/log.hpp"
#include "recoil/mesh/input/quality.hpp"

namespace recoil::app {

namespace {

std::string describe(const LoadedScene& loaded) {
  const Scene& scene = loaded.file.scene;
  const mesh::AssembledGeometry& geometry = loaded.geometry;
  std::string report =
      fmt::format("{}: valid, {}D, {} vertices, {} cells, {} obstacle(s)\n", scene.file.string(), loaded.dim,
                  geometry.deformable.vertices.size(), geometry.deformable.cells.size(),
                  geometry.obstacles.size() + scene.planes.size());
  for (const mesh::BodyQuality& body : mesh::body_quality(geometry.deformable))
    report += fmt::format(
        "  {}: order {}, {} cells, volume {:g}, scaled Jacobian {:.3g} at least, {:.3g} on average, "
        "edges {:.3g} to {:.3g}\n",
        body.name, order_of_body(scene, body.name), body.cells, body.volume, body.min_scaled_jacobian,
        body.mean_scaled_jacobian, body.min_edge, body.max_edge);
  for (const mesh::SurfaceMesh& obstacle : geometry.obstacles)
    report += fmt::format("  {}: obstacle, {} vertices, {} triangles, {} edges, {} points\n", obstacle.name,
                          obstacle.vertices.size(), obstacle.triangles.size(), obstacle.edges.size(),
                          obstacle.points.size());
  for (const std::string& warning : scene.warnings) report += "  warning: " + warning + "\n";
  return report;
}

} // namespace

std::string validate_scene(const parallel::Communicator& comm, const std::filesystem::path& path) {
  LogOptions log;
  log.rank = comm.rank();
  log.level = LogLevel::warning;
  initialize_log(log);
  LoadedScene loaded = load_scene(comm, path);
  std::string report =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? describe(loaded) : std::string(); });
  if (loaded.dim == 2)
    DiscreteScene<2>(loaded.file.scene, distribute_geometry<2>(comm, loaded)).start();
  else
    DiscreteScene<3>(loaded.file.scene, distribute_geometry<3>(comm, loaded)).start();
  return report;
}

} // namespace recoil::app
