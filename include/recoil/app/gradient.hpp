#pragma once

#include <filesystem>

#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What the command line of `recoil gradient` says.
struct GradientOptions {
  std::filesystem::path study, output;
  bool check = false; ///< compare with differences of whole runs
  bool quiet = false, json_lines = false, verbose = false;
};

/// Runs the experiments of a study forward, sweeps backward through what they stored, and writes
/// gradient.json, gradient.h5 where values belong to elements or vertices, and a run folder per experiment.
/// Returns ExitCode::no_solution where a run or a sweep fails. Collective.
/// @throws InputError, FileError on every rank.
ExitCode gradient(const parallel::Communicator& comm, const GradientOptions& options);

} // namespace recoil::app
