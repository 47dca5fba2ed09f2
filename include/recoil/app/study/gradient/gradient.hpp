#pragma once

#include <filesystem>

#include "recoil/app/run/console.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

/// The commands of the program that work on studies. Both are collective; they return ExitCode::interrupted
/// after SIGUSR1 or SIGTERM, when what there is to keep has been written. A study that cannot begin leaves no
/// folder. @throws InputError, FileError on every rank.
namespace recoil::app {

/// What the command line says.
struct StudyOptions {
  std::filesystem::path study, output;
  std::filesystem::path restart; ///< folder to continue; replaces `study` and `output`
  bool check = false;            ///< of gradient(): compare with differences of whole runs
  ConsoleOptions console;
};

/// Runs the experiments of a study forward, sweeps backward through what they stored, and writes
/// gradient.json, gradient.h5 where values belong to elements or vertices, and a run folder per experiment.
/// With `restart` it continues from whatever an earlier call has left: complete runs and finished sweeps are
/// not repeated, on any number of ranks; a sweep under way is, on another number of ranks. Returns
/// ExitCode::no_solution where a run, a sweep or the check fails.
ExitCode gradient(const parallel::Communicator& comm, const StudyOptions& options);

/// Minimises the objective of a study over its parameters, and writes fit.json, fit.h5 where values belong to
/// elements or vertices, posterior.h5 and posterior-<field>.xdmf for fields with a correlated prior,
/// history.csv, scenes/ with the fitted values, and evaluations/ with all that has been evaluated. With
/// `restart` it continues from whatever an earlier call has left, on any number of ranks and groups: no
/// evaluation of an experiment that was finished is repeated. Returns ExitCode::no_solution where the start
/// values have no objective or an iterate no gradient.
ExitCode optimize(const parallel::Communicator& comm, const StudyOptions& options);

} // namespace recoil::app
