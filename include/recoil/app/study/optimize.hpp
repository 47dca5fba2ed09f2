#pragma once

#include <filesystem>

#include "recoil/app/simulation/console.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What the command line of `recoil optimize` says.
struct OptimizeOptions {
  std::filesystem::path study, output;
  std::filesystem::path restart; ///< folder to continue; replaces `study` and `output`
  ConsoleOptions console;
};

/// Minimises the objective of a study over its parameters, and writes fit.json, fit.h5 where values belong to
/// elements or vertices, history.csv, and evaluations/ with all that has been evaluated. A study that cannot
/// begin leaves no folder. With `restart` it continues from whatever an earlier call has left, on any number
/// of ranks and groups: no evaluation of an experiment that was finished is repeated. Returns
/// ExitCode::no_solution where the start values have no objective or an iterate no gradient, and
/// ExitCode::interrupted after SIGUSR1 or SIGTERM. Collective. @throws InputError, FileError on every rank.
ExitCode optimize(const parallel::Communicator& comm, const OptimizeOptions& options);

} // namespace recoil::app
