#pragma once

#include <span>
#include <string>

#include <Eigen/Geometry>

#include "recoil/mesh/geometry_spec.hpp"

/// Entries and numbers in messages, and the message for meshes that are too large.
namespace recoil::mesh {

/// "/geometry/0 (cube.msh)".
std::string describe(const GeometrySpec& spec);
/// Up to nine digits.
std::string describe(double value);
/// "(x, y, z)"; "(x, y)" in 2D.
std::string describe(const Eigen::Vector3d& point, int dim);
std::string describe(const Eigen::AlignedBox3d& box, int dim);
/// "tetrahedra" or "triangles".
std::string cells_of(int dim);
/// "2, 3, 4".
std::string list_of(std::span<const int> numbers);

/// Refuses a mesh that 32-bit indices cannot number or that the memory of this rank cannot hold, before it is
/// made.
/// @param cells,vertices counted in floating point, so that the count cannot overflow; of obstacles, their
/// edges and triangles
/// @param ranks that hold equal parts of it
/// @param where the entry, @param what the key and its value ("n_refs 12"), @param remedy ("take fewer
/// levels")
/// @throws InputError
void require_mesh_memory(double cells, double vertices, const std::string& where, const std::string& what,
                         const std::string& remedy, int ranks = 1);

} // namespace recoil::mesh
