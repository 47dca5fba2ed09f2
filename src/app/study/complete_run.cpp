#include "app/study/complete_run.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

/// The sum of the column `newton`; -1 unless there is one row per step.
GlobalIndex sum_in_ledger(const std::filesystem::path& ledger, GlobalIndex steps) {
  std::ifstream file(ledger);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> head = cells_of(line);
  const auto column = static_cast<std::size_t>(std::ranges::find(head, "newton") - head.begin());
  GlobalIndex sum = 0, rows = 0;
  while (std::getline(file, line)) {
    const std::vector<std::string> row = cells_of(line);
    GlobalIndex iterations = 0;
    if (column >= row.size() || !(std::istringstream(row[column]) >> iterations)) return -1;
    sum += iterations;
    ++rows;
  }
  return rows == steps ? sum : -1;
}

} // namespace

GlobalIndex newton_iterations_of_run(const parallel::Communicator& comm, const ExperimentFolder& folder,
                                     GlobalIndex steps, GlobalIndex otherwise) {
  const GlobalIndex sum = comm.max(comm.rank() == 0 ? sum_in_ledger(folder.ledger(), steps) : -1);
  return sum < 0 ? otherwise : sum;
}

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
  iterations = comm.max(iterations);
  if (iterations < 0) return {};
  return RunCost{comm.max(seconds),
                 newton_iterations_of_run(comm, folder, steps, static_cast<GlobalIndex>(iterations))};
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
