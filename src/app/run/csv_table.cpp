#include "recoil/app/run/csv_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

void begin_table(const std::filesystem::path& table, const std::string& head, double last_time) {
  std::string text = head + "\n", line;
  std::ifstream before(table);
  std::getline(before, line);
  while (std::getline(before, line)) {
    const auto first = line.find(','), second = line.find(',', first + 1);
    // A killed run may have left half a line.
    if (std::ranges::count(line, ',') != std::ranges::count(head, ',')) break;
    if (std::stod(line.substr(first + 1, second - first - 1)) <= last_time) text += line + "\n";
  }
  write_file_atomically(table, text);
}

double time_of_last_rows(const parallel::Communicator& comm, const checkpoint::RunFolder& folder,
                         bool continues) {
  if (!continues) return -std::numeric_limits<double>::infinity();
  checkpoint::TrajectoryReader reader(comm, folder.trajectory());
  return reader.records()[reader.restart_point().states.front()].time;
}

void add_to_table(const parallel::Communicator& comm, const std::filesystem::path& table,
                  const std::string& rows) {
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0 || rows.empty()) return;
    if (!append_to_file(table, rows))
      throw FileError(table.string() + ": cannot add a row: " + std::strerror(errno) + "; is the disk full?");
  });
}

std::string table_cells(std::span<const double> values) {
  std::string text;
  for (const double value : values) text += fmt::format(",{:.9g}", value);
  return text;
}

} // namespace recoil::app
