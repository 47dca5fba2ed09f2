#include "commands.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::drivers {

void add_console_and_petsc(CLI::App& command, app::ConsoleOptions& console, std::string& petsc) {
  command.add_flag("-q,--quiet", console.quiet, "Only warnings and errors on the console");
  command.add_flag("--json-lines", console.json_lines, "Console lines as JSON objects");
  command.add_flag("-v,--verbose", console.verbose, "More detail");
  command.add_option("--petsc", petsc, "PETSc options, e.g. \"-recoil_pc_type hypre -log_view\"");
}

} // namespace recoil::drivers
