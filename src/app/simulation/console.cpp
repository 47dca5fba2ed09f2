#include "recoil/app/simulation/console.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {

void start_log(const parallel::Communicator& comm, const ConsoleOptions& console,
               const std::filesystem::path& file) {
  LogOptions log;
  log.rank = comm.rank();
  log.level = console.verbose ? LogLevel::debug : LogLevel::info;
  log.file = file;
  log.quiet = console.quiet;
  log.json_lines = console.json_lines;
  parallel::collectively(comm, [&] { initialize_log(log); });
}

} // namespace recoil::app
