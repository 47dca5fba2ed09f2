#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "recoil/app/simulation/console.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

/// The subcommands of recoil. Each adds itself to the command line and sets `run` when it is chosen.
namespace recoil::drivers {

using Run = std::function<ExitCode(const parallel::Communicator&)>;

void add_simulate(CLI::App& app, Run& run);
void add_gradient(CLI::App& app, Run& run);
void add_optimize(CLI::App& app, Run& run);
void add_validate(CLI::App& app, Run& run);
void add_schema(CLI::App& app, Run& run);
void add_info(CLI::App& app, Run& run);

/// Flags of commands that run for long: what the console shows, and options for PETSc.
void add_console_and_petsc(CLI::App& command, app::ConsoleOptions& console, std::string& petsc);

} // namespace recoil::drivers
