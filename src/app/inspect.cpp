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
