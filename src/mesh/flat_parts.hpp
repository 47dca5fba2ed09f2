#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/mesh/distributed_surfaces.hpp"

namespace recoil::mesh {

/// Lists of numbers one behind the other.
struct Lists {
  std::vector<std::int32_t> begin{0}, items; ///< list k is from begin[k] to begin[k + 1]

  std::span<const std::int32_t> operator[](std::size_t k) const {
    return std::span(items).subspan(begin[k], begin[k + 1] - begin[k]);
  }
};

/// Tells the shape of surfaces from how they are cut into triangles: which edges lie inside of flat parts,
/// and which vertices inside of flat parts or on straight edges. What is off a plane or line by no more than
/// 1e-9 of the extent of all surfaces, and turned out of it by no more than 1e-6, lies in it.
class FlatParts {
public:
  using Edge = std::array<LocalIndex, 2>;
  using Face = std::array<LocalIndex, 3>;

  /// `edges`: those of the faces and free ones, each once, ascending; numbers of vertices ascend in both.
  /// `edge_faces`: the faces around each edge. What is found is right where all that is around it is given.
  /// @param extent of all surfaces [m]
  FlatParts(const std::vector<Eigen::Vector3d>& points, double extent, const std::vector<Face>& faces,
            const std::vector<Edge>& edges, const Lists& edge_faces);

  const std::vector<char>& edge_is_flat() const { return edge_is_flat_; }
  const std::vector<VertexShape>& vertex_shapes() const { return vertex_shapes_; }

private:
  using Numbers = std::span<const std::int32_t>;

  Eigen::Vector3d way(LocalIndex from, LocalIndex to) const;
  bool continue_each_other(const Edge& edge, LocalIndex c, LocalIndex d) const;
  bool is_straight(LocalIndex vertex, LocalIndex before, LocalIndex after) const;
  bool are_one_fan(LocalIndex vertex, Numbers faces) const;
  double angle_of(LocalIndex vertex, Numbers faces) const;
  VertexShape shape_of(LocalIndex vertex, Numbers edges, Numbers faces) const;

  const std::vector<Eigen::Vector3d>* points_;
  const std::vector<Face>* faces_;
  const std::vector<Edge>* edges_;
  const Lists* edge_faces_;
  double tolerance_; ///< [m]
  std::vector<char> edge_is_flat_;
  std::vector<VertexShape> vertex_shapes_;
};

} // namespace recoil::mesh
