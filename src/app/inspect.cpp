#include "recoil/app/inspect.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "recoil/app/scene/read_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/input/quality.hpp"

namespace recoil::app {

std::string validate_scene(const std::filesystem::path& path) {
  SceneFile file = read_scene(path);
  Scene& scene = file.scene;
  mesh::MeshFiles files;
  const int dim = mesh::geometry_dimension(scene.geometry, files);
  const mesh::AssembledGeometry geometry = mesh::assemble_geometry(scene.geometry, dim, files);
  validate_against_mesh(scene, geometry.deformable, geometry.obstacles);

  std::string report = fmt::format("{}: valid, {}D, {} vertices, {} cells, {} obstacle(s)\n", path.string(),
                                   dim, geometry.deformable.vertices.size(), geometry.deformable.cells.size(),
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

namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string describe_trajectory(const parallel::Communicator& comm, const std::filesystem::path& folder) {
  if (!checkpoint::TrajectoryReader::exists(comm, folder)) return "no trajectory yet\n";
  std::string report;
  const checkpoint::TrajectoryReader reader(comm, folder);
  const auto& records = reader.records();
  report +=
      fmt::format("{} states, t = {:g} to {:g}\n", records.size(), records.front().time, records.back().time);
  for (const checkpoint::FileReport& file : checkpoint::verify(comm, folder))
    report += fmt::format("  {:<24} {:>12} bytes  {:>5} states  {}\n", file.name, file.bytes, file.states,
                          file.damage.empty() ? "sound" : "DAMAGED: " + file.damage);
  return report;
}

} // namespace

std::string describe_run(const parallel::Communicator& comm, const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "scene.json"))
    throw InputError(folder.string(),
                     "is not a run folder (it holds no scene.json); give the folder named by "
                     "`recoil simulate -o`");
  std::string report = folder.string() + "\n" + describe_trajectory(comm, folder / "trajectory");
  if (std::filesystem::exists(folder / "summary.json"))
    report += "summary.json: " + read_text(folder / "summary.json");
  else
    report +=
        "no summary.json: the run is going on or was killed; continue it with `recoil simulate --restart " +
        folder.string() + "`\n";
  return report;
}

} // namespace recoil::app
