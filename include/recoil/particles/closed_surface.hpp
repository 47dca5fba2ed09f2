#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::particles {

/// The surface of a body as triangles that leave no gap, with a hierarchy of boxes over them. Every edge is
/// passed as often in one direction as in the other. Normals point outwards, at cavities into the cavity;
/// surfaces whose normals all point inwards are turned. Overlapping parts count as their union.
class ClosedSurface {
public:
  /// @param name of the body, for messages and particle sets.
  /// @throws InputError for a surface without triangles or volume, and for one that is not closed or not
  /// oriented consistently, with the number of the edges concerned and the place of the first.
  /// @note Cost O(n log n).
  ClosedSurface(std::string name, std::vector<Eigen::Vector3d> vertices,
                std::vector<std::array<std::int32_t, 3>> triangles);
  explicit ClosedSurface(const mesh::SurfaceMesh& surface)
      : ClosedSurface(surface.name, surface.vertices, surface.triangles) {}

  const std::string& name() const { return name_; }
  const std::vector<Eigen::Vector3d>& vertices() const { return vertices_; }
  /// Corners, in the order of the hierarchy.
  const std::vector<std::array<std::int32_t, 3>>& triangles() const { return triangles_; }
  /// Enclosed volume [m^3]; where parts overlap, it counts for each of them.
  double volume() const { return volume_; }
  const Eigen::AlignedBox3d& box() const { return nodes_.front().box; }

  /// Whether the surface winds around `point`, decided exactly: the crossings of a ray along x are counted
  /// with their signs by predicates without rounding, rays through edges and vertices as if the point were
  /// shifted by an infinitesimal amount. Points on the surface may count as either.
  bool contains(const Eigen::Vector3d& point) const;

  struct Nearest {
    Eigen::Vector3d point;
    double distance;
  };
  /// The point of the surface nearest to `point`; nothing where it is not closer than `within`.
  std::optional<Nearest> nearest(const Eigen::Vector3d& point,
                                 double within = std::numeric_limits<double>::infinity()) const;
  /// Whether some point of the surface is closer than `distance`; cheaper than nearest().
  bool is_closer(const Eigen::Vector3d& point, double distance) const;
  /// Appends the numbers of all triangles closer than `within` to `point`.
  void find_triangles(const Eigen::Vector3d& point, double within, std::vector<std::int32_t>& found) const;
  /// The point of one triangle nearest to `point`; nothing where it is not closer than `within`.
  std::optional<Nearest> nearest_on(std::int32_t triangle, const Eigen::Vector3d& point, double within) const;
  /// Distance to the surface, negative inside [m].
  double signed_distance(const Eigen::Vector3d& point) const;

private:
  struct Node {
    Eigen::AlignedBox3d box;
    std::int32_t first, last; ///< triangles [first, last) below it
    std::int32_t right;       ///< the second child; the first one follows the node; 0 = leaf
  };
  void check_closed() const;
  void sort_triangles();
  std::int32_t build(std::int32_t first, std::int32_t last);
  double distance_squared(const Eigen::Vector3d& point, std::int32_t triangle, double bound) const;
  template <class Act>
  void for_triangles_within(const Eigen::Vector3d& point, double bound, Act act) const;
  int crossings(const Eigen::Vector3d& point, std::int32_t triangle) const;
  std::string describe_vertex(std::int32_t vertex) const;

  std::string name_;
  std::vector<Eigen::Vector3d> vertices_;
  std::vector<std::array<std::int32_t, 3>> triangles_;
  std::vector<Eigen::Vector3d> normals_;
  std::vector<Node> nodes_;
  double volume_ = 0;
};

/// The boundary of body number `body` of a mesh of tetrahedra.
/// @throws InputError for a mesh in 2D, and as the constructor of ClosedSurface.
ClosedSurface boundary_of_body(const mesh::SimplexMesh& mesh, std::int32_t body);

/// The surface that the first rank gives, on every rank. Collective.
ClosedSurface on_every_rank(const parallel::Communicator& comm, const ClosedSurface* of_first_rank);

} // namespace recoil::particles
