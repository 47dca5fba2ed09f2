#include "recoil/app/inspect.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

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

/// Where the run folders are in the folder of `recoil gradient`; empty if it is none.
std::string runs_of_study(const std::filesystem::path& folder) {
  std::string runs;
  if (std::filesystem::exists(folder / "study.json"))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (std::filesystem::exists(entry.path() / "scene.json"))
        runs += (runs.empty() ? "" : ", ") + entry.path().string();
  return runs;
}

} // namespace

std::string describe_run(const parallel::Communicator& comm, const std::filesystem::path& folder) {
  if (const std::string runs = runs_of_study(folder); !runs.empty())
    throw InputError(folder.string(), "holds the results of a study; its runs are in " + runs);
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
