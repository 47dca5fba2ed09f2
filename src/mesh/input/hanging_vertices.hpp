#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::mesh {

/// How far coordinates are off that went through single precision, as those of STL files do [m]: twice the
/// rounding of the largest one.
double single_precision_error(std::span<const Eigen::Vector3d> vertices);

/// Whether two edges lie on each other over more than a point: on one line up to `tolerance` [m] and at most
/// a thousandth of the shorter one.
bool edges_overlap(const std::array<Eigen::Vector3d, 2>& a, const std::array<Eigen::Vector3d, 2>& b,
                   double tolerance);

/// The sides that only one triangle has, as 3 * triangle + side, ascending; side i runs from corner i to the
/// next.
std::vector<std::int32_t> free_sides(std::span<const std::array<std::int32_t, 3>> triangles);

/// What was split.
struct Splits {
  std::size_t vertices = 0; ///< how many vertices hung, once for each triangle or edge
  std::int32_t vertex = -1; ///< the first of them
  std::size_t item = 0;     ///< the triangle or edge that it hung on, as numbered before
};

/// Splits triangles at the vertices inside of their free sides (those that no other triangle has) where free
/// sides of other triangles on the same line end, so that the surface stays the same and its triangles have
/// whole sides in common. Tags go with the pieces.
Splits split_at_hanging_vertices(RawMesh& raw, double tolerance);

/// Splits edges that lie on each other at the ends of the others: what they have in common is then there
/// twice.
Splits split_overlapping_edges(const std::vector<Eigen::Vector3d>& vertices,
                               std::vector<std::array<std::int32_t, 2>>& edges, double tolerance);

} // namespace recoil::mesh
