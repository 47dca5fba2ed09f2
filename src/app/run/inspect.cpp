#include "recoil/app/run/inspect.hpp"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/run/solver_kind.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;

std::string describe_obstacle(const mesh::SurfaceMesh& obstacle) {
  return fmt::format("{}: obstacle, {} vertices, {} triangles, {} edges, {} points", obstacle.name,
                     obstacle.vertices.size(), obstacle.triangles.size(), obstacle.edges.size(),
                     obstacle.points.size());
}

/// @param obstacles a line about each that has a mesh
std::string describe_scene(const Scene& scene, int dim, const std::vector<std::string>& obstacles,
                           const SceneReport& found) {
  std::string report = fmt::format("{}: valid, {}D, {}, {} obstacle(s)\n", scene.file.string(), dim,
                                   found.size, obstacles.size() + scene.planes.size());
  for (const auto* lines : {&found.bodies, &obstacles})
    for (const std::string& line : *lines) report += "  " + line + "\n";
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

} // namespace

std::string validate_scene(const parallel::Communicator& comm, const std::filesystem::path& path,
                           const SolverKinds& solvers, const std::string& text) {
  LogOptions log;
  log.rank = comm.rank();
  log.level = LogLevel::warning;
  initialize_log(log);
  LoadedScene loaded = load_scene(comm, path, solvers, text);
  std::vector<std::string> obstacles; // before the problem takes the meshes
  for (const mesh::SurfaceMesh& obstacle : loaded.geometry.obstacles)
    obstacles.push_back(describe_obstacle(obstacle));
  const SceneReport found = loaded.solver->validate(comm, loaded);
  return comm.rank() == 0 ? describe_scene(loaded.file.scene, loaded.dim, obstacles, found) : std::string();
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
