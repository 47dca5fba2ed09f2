#pragma once

#include <filesystem>

#include "recoil/app/run/load_geometry.hpp"
#include "recoil/app/scene/read_scene.hpp"

namespace recoil::app {

struct SolverKind;
class SolverKinds;

/// A scene checked against its meshes.
struct LoadedScene : LoadedGeometry {
  SceneFile file;
  const SolverKind* solver = nullptr;
};

/// Reads the scene on rank 0, gives it to all ranks with the places of its values, reads and checks the
/// meshes on rank 0. Collective.
/// @throws InputError on every rank.
LoadedScene load_scene(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const SolverKinds& solvers);

} // namespace recoil::app
