#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "recoil/app/run/console.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

class SolverKinds;

/// What the command line of `recoil simulate` says.
struct SimulateOptions {
  std::filesystem::path scene;       ///< for a new run
  std::string text;                  ///< of a scene that has no file, as load_scene() takes it
  std::filesystem::path output;      ///< run folder of a new run
  std::filesystem::path restart;     ///< run folder to continue; excludes the two above
  std::optional<std::int64_t> steps; ///< stop when this many steps are done in all
  ConsoleOptions console;
};

/// Runs or continues a simulation and writes the run folder (docs/contracts.md). Returns how it ended;
/// wrong input and failing files are exceptions, the same on every rank. Collective.
ExitCode simulate(const parallel::Communicator& comm, const SimulateOptions& options,
                  const SolverKinds& solvers);

} // namespace recoil::app
