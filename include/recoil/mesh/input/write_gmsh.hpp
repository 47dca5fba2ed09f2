#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <Eigen/Core>

namespace recoil::mesh {

/// The text of a Gmsh 2.2 file with these cells, from which the same mesh is read: coordinates to the last
/// digit, vertices and cells in this order, and the tag of each cell as its physical one.
/// @param cells tetrahedra, or triangles whose last entry is -1. @param tags one per cell.
std::string gmsh_text(std::span<const Eigen::Vector3d> vertices,
                      std::span<const std::array<std::int32_t, 4>> cells, std::span<const std::int32_t> tags);

} // namespace recoil::mesh
