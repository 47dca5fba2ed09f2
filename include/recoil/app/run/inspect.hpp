#pragma once

#include <filesystem>
#include <string>

#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

class SolverKinds;

/// Reads a scene with all its meshes and builds its problem as `simulate` does, up to the check of the
/// initial state. Returns a report of bodies, sizes, element quality and warnings on rank 0, an empty text
/// elsewhere. Writes no file and solves nothing. `text` as load_scene() takes it. Collective. @throws
/// InputError on every rank for the first thing that is wrong.
std::string validate_scene(const parallel::Communicator& comm, const std::filesystem::path& scene,
                           const SolverKinds& solvers, const std::string& text = {});

/// What `recoil info` tells.
struct RunReport {
  std::string text;
  bool sound = true; ///< nothing of the run is damaged or missing
};

/// What a run folder holds: scene, status, files and whether they are sound, states and times. Collective.
/// @throws InputError if it is no run folder, FileError if it, its manifest or summary.json cannot be read,
/// on every rank.
RunReport describe_run(const parallel::Communicator& comm, const std::filesystem::path& folder);

} // namespace recoil::app
