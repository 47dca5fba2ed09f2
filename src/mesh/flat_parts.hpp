#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

#include "recoil/mesh/distributed_surfaces.hpp"

namespace recoil::mesh {

/// Tells the shape of surfaces from how they are cut into triangles: which edges lie inside of flat parts,
/// and which vertices inside of flat parts or on straight edges. What is off a plane or line by no more than
/// 1e-9 of the extent of all surfaces, and turned out of it by no more than 1e-6, lies in it.
class FlatParts {
public:
  using Edge = std::array<GlobalIndex, 2>;
  using Face = std::array<GlobalIndex, 3>;

  /// `edges`: those of the faces and free ones, each once, smaller number first, ascending.
  FlatParts(const std::vector<Eigen::Vector3d>& points, const std::vector<Face>& faces,
            const std::vector<Edge>& edges);

  const std::vector<char>& edge_is_flat() const { return edge_is_flat_; }
  const std::vector<VertexShape>& vertex_shapes() const { return vertex_shapes_; }

private:
  using Lists = std::vector<std::vector<std::size_t>>;

  Eigen::Vector3d way(GlobalIndex from, GlobalIndex to) const;
  bool continue_each_other(const Edge& edge, GlobalIndex c, GlobalIndex d) const;
  bool is_straight(GlobalIndex vertex, GlobalIndex before, GlobalIndex after) const;
  bool are_one_fan(GlobalIndex vertex, const std::vector<std::size_t>& faces) const;
  double angle_of(GlobalIndex vertex, const std::vector<std::size_t>& faces) const;
  VertexShape shape_of(GlobalIndex vertex, const std::vector<std::size_t>& edges,
                       const std::vector<std::size_t>& faces) const;

  const std::vector<Eigen::Vector3d>* points_;
  const std::vector<Face>* faces_;
  const std::vector<Edge>* edges_;
  double tolerance_ = 0; ///< [m]
  Lists edge_faces_;     ///< per edge
  std::vector<char> edge_is_flat_;
  std::vector<VertexShape> vertex_shapes_;
};

} // namespace recoil::mesh
