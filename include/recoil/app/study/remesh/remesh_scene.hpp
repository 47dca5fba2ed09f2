#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recoil/app/study/remesh/mesh_transfer.hpp"
#include "recoil/mesh/input/remesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// What a scene has become.
struct RemeshedScene {
  double min_scaled_jacobian = 1; ///< of the bodies that were meshed anew
  MeshTransfer transfer;
};

/// Lets Gmsh mesh the inside of bodies anew in a scene that write_scene_with_values() has written with their
/// meshes: replaces these, their ids, and the arrays per element and node that the scene names.
/// @param bodies by name, empty: all deformable ones. @param gmsh the program; its files are left next to
/// those of the scene. @param alone a communicator of this process.
/// @throws InputError where the program is missing, or something of the scene cannot be carried over;
/// FileError; Error of ExitCode::no_solution where there is no mesh. Serial.
RemeshedScene remesh_scene(const parallel::Communicator& alone, const std::filesystem::path& scene,
                           const std::vector<std::string>& bodies, const mesh::Gmsh& gmsh);

} // namespace recoil::app
