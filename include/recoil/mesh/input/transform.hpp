#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "recoil/mesh/geometry_spec.hpp"

namespace recoil::mesh {

/// Smallest box around `vertices` (all of them, used by a cell or not); empty for no vertices.
Eigen::AlignedBox3d bounding_box(const std::vector<Eigen::Vector3d>& vertices);

/// p' = linear p + offset.
struct AffineMap {
  Eigen::Matrix3d linear = Eigen::Matrix3d::Identity();
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();
};

/// The rotation of `transformation`: in 2D one angle about z, counter-clockwise; in 3D by rotation_mode. Axis
/// letters rotate about the fixed axes in the order written, the angle being looked up by letter (rotation[0]
/// is the x angle); `axis_angle` is [degrees, ax, ay, az], `rotation_vector` axis times degrees, `quaternion`
/// [x, y, z, w].
/// @throws InputError naming `where` for an unknown mode, a wrong count of numbers, a zero axis or
/// quaternion.
Eigen::Matrix3d rotation_matrix(const Transformation& transformation, int dim, const std::string& where);

/// R S p + t for a mesh of the given unrotated bounding box; `dimensions`, when given, replaces the scale by
/// dimension / extent (an extent of 0 counts as 1). In 2D z stays as it is.
AffineMap affine_map(const Transformation& transformation, const Eigen::AlignedBox3d& box, int dim,
                     const std::string& where);

/// Maps all vertices in place.
void transform_vertices(const AffineMap& map, std::vector<Eigen::Vector3d>& vertices);

/// Moves the minimum corner to the origin and divides by the largest extent: the mesh then lies in [0, 1]^3,
/// proportions kept. @throws InputError naming `where` if all vertices coincide.
/// The box is that of these vertices, or `box`, that of a whole of which they are a part.
void normalize(std::vector<Eigen::Vector3d>& vertices, const std::string& where);
void normalize(std::vector<Eigen::Vector3d>& vertices, const Eigen::AlignedBox3d& box,
               const std::string& where);

/// Shifts of the copies of a `mesh_array`, the first index outermost: offset * (i, j, k), times the extents
/// of `box` if relative. `cells`, `vertices`: of what is copied, of which `ranks` hold equal parts.
/// @throws InputError naming `where` for sizes below 1, a wrong count of them, or copies that memory cannot
/// hold.
std::vector<Eigen::Vector3d> copy_offsets(const ArrayCopies& copies, const Eigen::AlignedBox3d& box, int dim,
                                          const std::string& where, double cells = 1, double vertices = 1,
                                          int ranks = 1);

} // namespace recoil::mesh
