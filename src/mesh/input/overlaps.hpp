#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace recoil::mesh {

/// Triangles of a surface, by reference.
struct TriangleSpan {
  std::span<const Eigen::Vector3d> vertices;
  std::span<const std::array<std::int32_t, 3>> corners;
};
/// Edges of a surface, by reference.
struct EdgeSpan {
  std::span<const Eigen::Vector3d> vertices;
  std::span<const std::array<std::int32_t, 2>> ends;
};

/// Two primitives that lie on each other.
struct Overlap {
  std::int32_t first, second; ///< their numbers
  bool same_side;             ///< their normals, those of edges to the right of them, point to the same side
  Eigen::Vector3d place;      ///< in the middle of what they have in common
  double measure = 0;         ///< length or area that they have in common
};

/// Pairs of triangles in one plane, up to 1e-7 of the extent of both surfaces, that have more than a
/// hundredth of the smaller one's area in common; first < second within one surface.
std::vector<Overlap> overlapping_triangles(const TriangleSpan& surface);
std::vector<Overlap> overlapping_triangles(const TriangleSpan& a, const TriangleSpan& b);

/// Pairs of edges on one line that have more than a point in common, as edges_overlap().
std::vector<Overlap> overlapping_edges(const EdgeSpan& edges);
std::vector<Overlap> overlapping_edges(const EdgeSpan& a, const EdgeSpan& b);

/// Edges (`first`) that lie in triangles (`second`) which do not have both of their ends as corners, with
/// more than a hundredth of their length. Within one surface if both have the same vertices.
std::vector<Overlap> edges_in_triangles(const EdgeSpan& edges, const TriangleSpan& surface);

} // namespace recoil::mesh
