#pragma once

#include <filesystem>

#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// What a surface file says beside its shape.
struct SurfaceAttributes {
  /// Texture coordinates of the corners of each triangle; empty unless all triangles have them.
  std::vector<std::array<Eigen::Vector2d, 3>> texture;
  std::vector<Eigen::Vector3d> colors; ///< red, green, blue, 0 to 1, of vertices; empty unless all have them
};

/// read_mesh(), with the attributes of OBJ files: lines "vt u v", faces "v/vt", vertices "x y z r g b". Not
/// collective. @throws InputError as read_mesh().
RawMesh read_surface(const std::filesystem::path& path, SurfaceAttributes& attributes);

} // namespace recoil::mesh
