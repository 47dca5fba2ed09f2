#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recoil/mesh/input/body_mesh.hpp"

namespace recoil::mesh {

/// A body with new cells and vertices inside.
struct RemeshedBody {
  BodyMesh mesh;
  /// Numbers in the old body of its first vertices, ascending; the others are new.
  std::vector<std::int32_t> kept;
};

/// The program that makes meshes, by name or path, and how long it may work on one [s].
struct Gmsh {
  std::string program = "gmsh";
  double time_limit = 3600;
};

/// Lets Gmsh mesh a body anew between its boundary facets and those between cells of different tags, which
/// stay as they are, with their vertices. Cells inside are about as large as the facets around them. The
/// program gets files in `folder`, which must exist, and its results and messages remain there.
/// @param name of the body, for messages and names of files.
/// @throws InputError where the program is missing, TimeLimitError, Error of ExitCode::interrupted where a
/// signal comes meanwhile, of ExitCode::no_solution where it fails, writes no mesh or does not keep the
/// facets.
/// @note Serial. The same input gives the same mesh.
RemeshedBody remesh_interior(const BodyMesh& body, const Gmsh& gmsh, const std::filesystem::path& folder,
                             const std::string& name);

} // namespace recoil::mesh
