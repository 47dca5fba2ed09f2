#include "recoil/app/solvers/list/inspect.hpp"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/app/solvers/bonded_particles/particle_report.hpp"
#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/mesh/input/quality.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;

std::string describe_elements(const LoadedScene& loaded) {
  std::string report;
  for (const mesh::BodyQuality& body : mesh::body_quality(loaded.geometry.deformable))
    report += fmt::format("  {}: order {}, {} cells, volume {:g}, scaled Jacobian {:.3g} at least, {:.3g} on "
                          "average, edges {:.3g} to {:.3g}\n",
                          body.name, order_of_body(loaded.file.scene, body.name), body.cells, body.volume,
                          body.min_scaled_jacobian, body.mean_scaled_jacobian, body.min_edge, body.max_edge);
  return report;
}

/// `size` of the whole scene, `bodies` in lines of their own.
std::string describe_scene(const LoadedScene& loaded, const std::string& size, const std::string& bodies) {
  const Scene& scene = loaded.file.scene;
  const mesh::AssembledGeometry& geometry = loaded.geometry;
  std::string report = fmt::format("{}: valid, {}D, {}, {} obstacle(s)\n", scene.file.string(), loaded.dim,
                                   size, geometry.obstacles.size() + scene.planes.size()) +
                       bodies;
  for (const mesh::SurfaceMesh& obstacle : geometry.obstacles)
    report += fmt::format("  {}: obstacle, {} vertices, {} triangles, {} edges, {} points\n", obstacle.name,
                          obstacle.vertices.size(), obstacle.triangles.size(), obstacle.edges.size(),
                          obstacle.points.size());
  for (const std::string& warning : scene.warnings) report += "  warning: " + warning + "\n";
  return report;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::none)
    throw FileError(path.string() + ": cannot be looked at: " + error.message());
  return type != fs::file_type::not_found;
}

/// Where the run folders are in the folder of `recoil gradient`; empty if it is none.
std::string runs_of_study(const fs::path& folder) {
  std::string runs;
  if (!is_there(folder / "study.json")) return runs;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_there(entry->path() / "scene.json")) runs += (runs.empty() ? "" : ", ") + entry->path().string();
  if (error) throw FileError(folder.string() + ": cannot list the folder: " + error.message());
  return runs;
}

void require_run_folder(const fs::path& folder) {
  if (const std::string runs = runs_of_study(folder); !runs.empty())
    throw InputError(folder.string(), "holds the results of a study; its runs are in " + runs);
  if (!is_there(folder / "scene.json"))
    throw InputError(
        folder.string(),
        "is not a run folder (it holds no scene.json); give the folder named by `recoil simulate -o`");
}

RunReport describe_trajectory(const parallel::Communicator& comm, const fs::path& folder) {
  const fs::path trajectory = folder / "trajectory";
  if (!checkpoint::TrajectoryReader::exists(comm, trajectory)) return {"no trajectory yet\n"};
  const checkpoint::TrajectoryReader reader(comm, trajectory);
  const auto& records = reader.records();
  RunReport report{fmt::format("{} states, t = {:g} to {:g}\n", records.size(), records.front().time,
                               records.back().time)};
  for (const checkpoint::FileReport& file : checkpoint::verify(comm, trajectory)) {
    report.text +=
        fmt::format("  {:<24} {:>12} bytes  {:>5} states  {}\n", file.name, file.bytes, file.states,
                    file.damage.empty() ? "sound" : "DAMAGED: the file " + file.damage);
    report.sound = report.sound && file.damage.empty();
  }
  try {
    require_undamaged(comm, folder / "scene.json", inputs_of(reader).at("scene"),
                      trajectory / "manifest.json");
  } catch (const FileError& damaged) {
    report.text += std::string("DAMAGED: ") + damaged.what() + "\n";
    report.sound = false;
  }
  return report;
}

/// On one rank.
RunReport describe_summary(const fs::path& folder) {
  const fs::path path = folder / "summary.json";
  if (!is_there(path))
    return {"no summary.json: the run is still running or was killed; continue it with `recoil simulate "
            "--restart " +
            folder.string() + "`\n"};
  const std::string text = read_file(path);
  if (nlohmann::json::accept(text)) return {"summary.json: " + text};
  return {"DAMAGED: " + path.string() + " is not valid JSON; the run writes it again with --restart\n",
          false};
}

/// Collective, as validate_scene().
std::string validate_particles(const parallel::Communicator& comm, const LoadedScene& loaded) {
  const auto solver = load_particle_solver(comm, loaded);
  std::string bodies;
  for (const std::string& line : describe_bodies(loaded, solver->problem())) bodies += "  " + line + "\n";
  return describe_scene(loaded, solver->description(), bodies);
}

std::string validate_elements(const parallel::Communicator& comm, LoadedScene& loaded) {
  std::string report = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return std::string();
    const mesh::SimplexMesh& mesh = loaded.geometry.deformable;
    return describe_scene(loaded,
                          fmt::format("{} vertices, {} cells", mesh.vertices.size(), mesh.cells.size()),
                          describe_elements(loaded));
  });
  if (loaded.dim == 2)
    DiscreteScene<2>(loaded.file.scene, distribute_geometry<2>(comm, loaded)).start();
  else
    DiscreteScene<3>(loaded.file.scene, distribute_geometry<3>(comm, loaded)).start();
  return report;
}

} // namespace

std::string validate_scene(const parallel::Communicator& comm, const std::filesystem::path& path) {
  LogOptions log;
  log.rank = comm.rank();
  log.level = LogLevel::warning;
  initialize_log(log);
  LoadedScene loaded = load_scene(comm, path);
  const std::string report = loaded.file.scene.solver.type == SolverType::bonded_particles
                                 ? validate_particles(comm, loaded)
                                 : validate_elements(comm, loaded);
  return comm.rank() == 0 ? report : std::string();
}

RunReport describe_run(const parallel::Communicator& comm, const fs::path& folder) {
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) require_run_folder(folder);
  });
  RunReport report = describe_trajectory(comm, folder);
  const RunReport summary =
      parallel::collectively(comm, [&] { return comm.rank() == 0 ? describe_summary(folder) : RunReport(); });
  report.text = folder.string() + "\n" + report.text + summary.text;
  report.sound = comm.all(report.sound && summary.sound);
  return report;
}

} // namespace recoil::app
