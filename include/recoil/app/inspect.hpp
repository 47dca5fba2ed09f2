#pragma once

#include <filesystem>
#include <string>

#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// Reads a scene with all its meshes and checks everything that can be known without solving. Returns a
/// report of bodies, sizes, element quality and warnings. Serial. @throws InputError for the first thing that
/// is wrong.
std::string validate_scene(const std::filesystem::path& scene);

/// What a run folder holds: scene, status, files and whether they are sound, states and times. Collective.
/// @throws InputError if it is no run folder.
std::string describe_run(const parallel::Communicator& comm, const std::filesystem::path& folder);

} // namespace recoil::app
