#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/mesh/distributed_obstacles.hpp"

namespace recoil::fem {

/// Where a surface vertex lives: on `rank`, as its owned surface vertex `index`.
struct VertexAddress {
  int rank;
  LocalIndex index;
  friend auto operator<=>(const VertexAddress&, const VertexAddress&) = default;
};

/// What never changes of a surface vertex; plain, so that it travels between ranks as bytes.
template <int dim>
struct SurfaceVertex {
  std::array<double, dim> rest; ///< [m]
  double area;                  ///< 1/dim of the rest measure of the primitives around it [m^(dim-1)]
  GlobalIndex id;               ///< canonical number of the node; obstacle vertices follow all nodes
  GlobalIndex block;            ///< global block number in vectors of the space; -1 for obstacles
  std::int32_t body;            ///< deformable bodies, then obstacles
  std::uint32_t prescribed;     ///< bit i: component i is prescribed
  VertexAddress address;
  /// Primitives around it, set where the vertex is owned. Sheets of a body that touch along an edge count by
  /// themselves.
  mesh::VertexDegrees degrees;
};

/// A number per rest area of a surface: the coefficients of a sum sum_v a_v A_v + sum_e a_e A_e, or changes
/// of the areas.
struct AreaField {
  std::vector<double> vertices; ///< a_v of the owned vertices
  /// a_e of owned edges (3D), by the first vertex of the edge, owned here, and the id of the second; edges
  /// that are not here have none.
  std::map<std::pair<LocalIndex, GlobalIndex>, double> edges;
};

/// The surface on which bodies collide: the boundary of the deformable mesh through its Lagrange nodes (order
/// k: k^2 triangles per facet, k segments in 2D) and the obstacles. Every rank holds the vertices whose node
/// it owns, its share of the obstacle vertices, and the edges and faces whose vertex with the smallest id it
/// owns; other vertices of those are ghosts.
template <int dim>
class CollisionSurface {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  /// `prescribed`: one flag per local entry of the space (DirichletDofs::flags). `stays_flat`: one flag per
  /// obstacle, whether all its motions keep planes and straight lines; only of such ones flat parts are known
  /// (none: of no obstacle). `space` and `obstacles` must outlive the surface. Collective.
  CollisionSurface(const FunctionSpace<dim>& space, const mesh::DistributedObstacles<dim>& obstacles,
                   std::span<const char> prescribed, std::span<const char> stays_flat = {});

  const FunctionSpace<dim>& space() const { return *space_; }
  const mesh::DistributedObstacles<dim>& obstacles() const { return *obstacles_; }
  const parallel::Communicator& comm() const { return space_->comm(); }

  LocalIndex num_owned() const { return num_owned_; }
  LocalIndex num_vertices() const { return vertices_.size(); }
  GlobalIndex num_obstacle_vertices_global() const { return obstacles_->num_vertices_global; }
  /// Owned vertices - first those of nodes, then those of obstacles -, then ghosts.
  const std::vector<SurfaceVertex<dim>>& vertices() const { return vertices_; }
  /// Local node of a vertex; -1 for obstacles.
  LocalIndex node(LocalIndex vertex) const { return nodes_[vertex]; }
  /// Local obstacle vertex of a vertex; -1 for nodes.
  LocalIndex obstacle_vertex(LocalIndex vertex) const { return obstacle_vertices_[vertex]; }
  /// Owned edges, vertices ascending in id; in 2D the primitives of the surface, in 3D the edges of its
  /// faces.
  const std::vector<std::array<LocalIndex, 2>>& edges() const { return edges_; }
  /// A third of the rest area of the faces around each edge (3D) [m^2].
  const std::vector<double>& edge_areas() const { return edge_areas_; }
  /// Owned faces (3D).
  const std::vector<std::array<LocalIndex, 3>>& faces() const { return faces_; }
  /// Per face, the number of faces at each of its edges, edge i from its vertex i to (i + 1) % 3: 2 on
  /// bodies, whose boundary is closed.
  const std::vector<std::array<std::int8_t, 3>>& edge_faces() const { return edge_faces_; }
  /// Per edge, whether it lies inside of a flat part of an obstacle that stays flat.
  const std::vector<char>& edge_is_flat() const { return edge_is_flat_; }
  /// Per owned face (3D) or edge (2D) of a body, the side of the material: +1 where (v1 - v0) x (v2 - v0), or
  /// in 2D v1 - v0 turned clockwise, points out of the body, -1 where it points inwards; 0 on obstacles,
  /// which have no inside.
  const std::vector<std::int8_t>& facet_sides() const { return facet_sides_; }
  /// Per face, bit i: its edge i, counted as in edge_faces, is flat.
  const std::vector<std::uint8_t>& face_flat_edges() const { return face_flat_edges_; }

  bool is_obstacle(std::int32_t body) const { return body >= num_bodies_; }
  /// Name of a deformable body or obstacle.
  const std::string& body_name(std::int32_t body) const;
  std::int32_t num_bodies() const { return num_bodies_; }

  /// Current positions of all vertices known here: rest + u for nodes, rest + `obstacle_displacement` (dim
  /// entries per local obstacle vertex) for the others [m].
  std::vector<Point> positions(std::span<const double> u,
                               std::span<const double> obstacle_displacement) const;
  /// The same for a field: displacement of all vertices known here.
  std::vector<Point> displacements(std::span<const double> u,
                                   std::span<const double> obstacle_displacement) const;

  /// Derivative of a sum of areas (SurfaceVertex::area, edge_areas) by the rest positions of all vertices
  /// known here: this rank's shares [m^(dim-2)]. Primitives of measure zero have none, and what has no face
  /// counts as fixed in 3D. Collective.
  std::vector<Point> area_gradient(const AreaField& sum) const;
  /// The transpose: changes of the areas of owned vertices and edges where the rest positions of all vertices
  /// known here change by `field`. Collective.
  AreaField area_changes(const std::vector<Point>& field) const;
  /// Takes a derivative by the rest positions of all vertices known here to what they follow: adds it to the
  /// local mesh vertices - a node on an edge or face moves with the vertices around it by its barycentric
  /// coordinates - and to the local obstacle vertices. Not collective.
  void add_to_rest(const std::vector<Point>& field, std::span<Point> mesh_vertices,
                   std::span<Point> obstacle_vertices) const;
  /// The transpose: changes of the rest positions of all vertices known here, with those of the local mesh
  /// and obstacle vertices; what has an empty list does not move. Not collective.
  std::vector<Point> rest_changes(std::span<const Point> mesh_vertices,
                                  std::span<const Point> obstacle_vertices) const;

private:
  struct Builder;
  /// act(vertex, mesh vertex, share) for the mesh vertices that carry the nodes on the surface.
  template <class Act>
  void for_each_carrier(Act act) const;

  const FunctionSpace<dim>* space_;
  const mesh::DistributedObstacles<dim>* obstacles_;
  std::int32_t num_bodies_ = 0;
  LocalIndex num_owned_ = 0;
  std::vector<SurfaceVertex<dim>> vertices_;
  std::vector<LocalIndex> nodes_, obstacle_vertices_;
  std::vector<std::array<LocalIndex, 2>> edges_;
  std::vector<double> edge_areas_;
  std::vector<std::array<LocalIndex, 3>> faces_;
  std::vector<std::array<std::int8_t, 3>> edge_faces_;
  std::vector<char> edge_is_flat_;
  std::vector<std::uint8_t> face_flat_edges_;
  std::vector<std::int8_t> facet_sides_;
};

} // namespace recoil::fem
