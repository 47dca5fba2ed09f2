#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "recoil/app/run/console.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

/// The subcommands of recoil. Each adds itself to the command line and sets `run` when it is chosen.
namespace recoil::drivers {

using Run = std::function<ExitCode(const parallel::Communicator&)>;

void add_simulate(CLI::App& app, Run& run);
void add_gradient(CLI::App& app, Run& run);
void add_optimize(CLI::App& app, Run& run);
void add_fracture(CLI::App& app, Run& run);
void add_impact(CLI::App& app, Run& run);
void add_validate(CLI::App& app, Run& run);
void add_schema(CLI::App& app, Run& run);
void add_info(CLI::App& app, Run& run);

/// What must hold before MPI starts: files that reach `ulimit -f` give an error instead of a signal, and
/// exceptions that nobody may catch still end with a sentence. Ends the process where `ulimit -v` or `ulimit
/// -f` leave too little to start at all.
void prepare_process();

/// Runs a command, and ends with one of the exit codes and a sentence, whatever is thrown. An error that all
/// ranks share is told by rank 0; one that the others cannot know of is told by its rank and ends all of
/// them. Collective.
int run_command(const parallel::Communicator& comm, const Run& run);

} // namespace recoil::drivers
