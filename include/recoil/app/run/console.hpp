#pragma once

#include <filesystem>

#include "recoil/base/log.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What a long command shows on the console.
struct ConsoleOptions {
  bool quiet = false, json_lines = false, verbose = false;
};

/// Starts this rank's log (base/log.hpp) again: to the console, and to `file` unless it is empty. Collective.
/// @throws FileError on every rank if the file cannot be opened.
inline void start_log(const parallel::Communicator& comm, const ConsoleOptions& console,
                      const std::filesystem::path& file = {}) {
  LogOptions log;
  log.rank = comm.rank();
  log.level = console.verbose ? LogLevel::debug : LogLevel::info;
  log.file = file;
  log.quiet = console.quiet;
  log.json_lines = console.json_lines;
  parallel::collectively(comm, [&] { initialize_log(log); });
}

} // namespace recoil::app
