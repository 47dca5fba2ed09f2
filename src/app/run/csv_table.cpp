#include "recoil/app/run/csv_table.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

namespace {

/// Commas in quotes are parts of names.
std::size_t num_cells(const std::string& line) {
  std::size_t count = 1;
  bool is_quoted = false;
  for (const char c : line) {
    is_quoted ^= c == '"';
    count += c == ',' && !is_quoted;
  }
  return count;
}

double time_of(const std::string& line, const std::filesystem::path& table) {
  const std::size_t begin = line.find(',') + 1;
  double time = 0;
  if (std::from_chars(line.data() + begin, line.data() + line.size(), time).ec != std::errc())
    throw FileError(table.string() + ": damaged, a row has no time: \"" + line +
                    "\"; remove the file to go on without the rows of before");
  return time;
}

} // namespace

void begin_table(const std::filesystem::path& table, const std::string& head, double last_time) {
  std::string text = head + "\n", line;
  std::ifstream before(table);
  std::getline(before, line);
  while (std::getline(before, line)) {
    // A killed run may have left part of a line.
    if (before.eof() || num_cells(line) != num_cells(head)) break;
    if (time_of(line, table) <= last_time) text += line + "\n";
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

std::string quoted_cell(const std::string& name) {
  if (name.find_first_of(",\"") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string table_cells(std::span<const double> values) {
  std::string text;
  for (const double value : values) text += fmt::format(",{:.9g}", value);
  return text;
}

} // namespace recoil::app
