#include "app/study/complete_run.hpp"

#include <system_error>

#include <nlohmann/json.hpp>

#include "recoil/app/simulation/run_state.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

GlobalIndex newton_iterations_of(const checkpoint::TrajectoryReader& reader) {
  GlobalIndex sum = 0;
  for (const stepping::StepRecord& record : reader.records())
    if (record.id > 0 && record.completes_nominal)
      sum += stepping::value_of<GlobalIndex>(run_state_from_json(reader.extra(record.id)).counts, "newton");
  return sum;
}

std::optional<double> seconds_of_complete_run(const parallel::Communicator& comm,
                                              const ExperimentFolder& folder, GlobalIndex steps) {
  checkpoint::TrajectoryReader reader(comm, folder.trajectory());
  const GlobalIndex newest = reader.restart_point().states.front();
  if (newest + 1 != std::ssize(reader.records()) || !reader.records().back().completes_nominal ||
      reader.records().back().nominal_step != steps)
    return {};
  std::string text;
  parallel::collectively(comm, [&] {
    std::error_code error;
    if (comm.rank() == 0 && std::filesystem::exists(folder.summary(), error))
      text = read_file(folder.summary());
  });
  comm.broadcast(text);
  try {
    const auto summary = nlohmann::json::parse(text);
    if (summary.at("status") == "done") return summary.at("wall_s").get<double>();
  } catch (const nlohmann::json::exception&) {
    // Absent or damaged: the run will write another one.
  }
  return {};
}

} // namespace recoil::app
