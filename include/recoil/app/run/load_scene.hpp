#pragma once

#include <filesystem>
#include <string>

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
/// meshes on rank 0. Of a scene that has no file, `text` is the JSON text, on rank 0; `path` then stands for
/// the file in messages, and relative paths start from the current folder. Collective.
/// @throws InputError on every rank.
LoadedScene load_scene(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const SolverKinds& solvers, const std::string& text = {});

} // namespace recoil::app
