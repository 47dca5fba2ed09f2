#include "app/study/complete_run.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

std::optional<RunCost> cost_of_complete_run(const parallel::Communicator& comm,
                                            const ExperimentFolder& folder, GlobalIndex steps) {
  checkpoint::TrajectoryReader reader(comm, folder.trajectory());
  const GlobalIndex newest = reader.restart_point().states.front();
  if (newest + 1 != static_cast<GlobalIndex>(reader.records().size()) ||
      reader.records().back().step != steps)
    return {};
  double seconds = 0, iterations = -1;
  if (comm.rank() == 0) try {
      std::ifstream file(folder.summary());
      const auto summary = nlohmann::json::parse(file);
      if (summary.at("status") == "done") {
        summary.at("wall_s").get_to(seconds);
        summary.at("newton_iterations").get_to(iterations);
      }
    } catch (const nlohmann::json::exception&) {
      iterations = -1; // absent or damaged: the run will write another one
    }
  const RunCost cost{comm.max(seconds), static_cast<GlobalIndex>(comm.max(iterations))};
  return cost.newton_iterations < 0 ? std::nullopt : std::optional(cost);
}

void drop_unfinished_step(const parallel::Communicator& comm, const ExperimentFolder& folder) {
  for (;;) {
    checkpoint::TrajectoryReader reader(comm, folder.trajectory());
    const GlobalIndex newest = reader.restart_point().states.front();
    if (reader.records()[static_cast<std::size_t>(newest)].step) return;
    const auto files = checkpoint::verify(comm, folder.trajectory());
    parallel::collectively(comm, [&] {
      if (comm.rank() != 0) return;
      for (std::size_t i = files.size(); i-- > 0;)
        if (files[i].name.starts_with("states_") &&
            std::filesystem::remove(folder.trajectory() / files[i].name))
          return;
    });
  }
}

} // namespace recoil::app
