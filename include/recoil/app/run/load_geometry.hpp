#pragma once

#include <string>

#include "recoil/app/scene/read_scene.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// A scene checked against its meshes. The meshes are held by rank 0 only.
struct LoadedScene {
  SceneFile file;
  int dim = 3;
  mesh::AssembledGeometry geometry;
};

/// Reads the scene on rank 0, gives it to all ranks with the places of its values, reads and checks the
/// meshes on rank 0. Collective.
/// @throws InputError on every rank.
LoadedScene load_scene(const parallel::Communicator& comm, const std::filesystem::path& path);

} // namespace recoil::app
