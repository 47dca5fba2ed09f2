#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/mesh/input/remesh.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// The transfer of fields to new meshes of bodies from the old ones, which fill the same space:
/// values per element from the element that a centroid lies in, values per vertex and per node between those
/// of the element that they lie in.
struct MeshTransfer {
  /// value = sum of weights * values of old rows.
  struct Row {
    std::vector<std::int64_t> from;
    std::vector<double> weights;
  };
  /// The rows of one place: per new row, in file order, and how many old ones there are.
  struct Rows {
    std::vector<Row> rows;
    std::int64_t num_old = 0;

    /// The new array, `columns` numbers a row; NaN where a row that counts is NaN. @throws InputError where
    /// the old one has another number of rows.
    std::vector<double> carry(std::span<const double> old, std::size_t columns) const;
  };
  Rows cells, vertices, nodes;
};

/// @param alone a communicator of this process.
/// @param scene says which order bodies have. @pre both meshes have the same bodies.
template <int dim>
MeshTransfer make_mesh_transfer(const parallel::Communicator& alone, const Scene& scene,
                                const mesh::SimplexMesh& old, const mesh::SimplexMesh& renewed);

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
