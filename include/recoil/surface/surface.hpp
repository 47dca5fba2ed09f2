#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/vector.hpp"
#include "recoil/mesh/distributed_surfaces.hpp"

/// Surfaces that may deform, distributed over ranks, whatever moves them: the boundary of a volume mesh, thin
/// sheets, obstacles.
namespace recoil::surface {

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
  GlobalIndex block;            ///< global block number in vectors of displacements; -1 for obstacles; of
                                ///< copies see Copies
  std::int32_t body;            ///< deformable bodies, then obstacles
  std::uint32_t prescribed;     ///< bit i: component i is prescribed
  VertexAddress address;
  /// Primitives around it, set where the vertex is owned. Sheets of a body that touch along an edge count by
  /// themselves.
  mesh::VertexDegrees degrees;
};

/// The rest position of a vertex follows those of others: it moves by the share of what the carrier moves.
struct Carrier {
  LocalIndex vertex, carrier;
  double share;
};

/// A number per rest area of a surface: the coefficients of a sum sum_v a_v A_v + sum_e a_e A_e, or changes
/// of the areas.
struct AreaField {
  std::vector<double> vertices; ///< a_v of the owned vertices
  /// a_e of owned edges (3D), by the first vertex of the edge, owned here, and the id of the second; edges
  /// that are not here have none.
  std::map<std::pair<LocalIndex, GlobalIndex>, double> edges;
};

/// Copies of the surface of a cell that repeats, in cells next to it: the copy of a vertex moves with its
/// node and with the ways that nodes a period apart go relative to each other, u + sum_k n_k (u_k+ - u_k-).
template <int dim>
struct Copies {
  /// n of every cell, how many periods away it is; zero of the first one, the cell itself.
  std::vector<std::array<int, dim>> cells;
  /// Global blocks of the nodes k-, k+; -1 where nothing repeats.
  std::array<std::array<GlobalIndex, 2>, dim> ends;
  std::vector<std::int32_t> cell_of_vertex; ///< number in `cells` of each vertex
  GlobalIndex num_vertices_global = 0;      ///< of the cells beside the first, over all ranks

  /// SurfaceVertex::block of a copy is that of the node plus this times the number of blocks.
  static constexpr GlobalIndex block_of_copy(GlobalIndex block, std::size_t cell, GlobalIndex num_blocks) {
    return block + static_cast<GlobalIndex>(cell) * num_blocks;
  }
};

/// What one rank knows of a surface, as its builders fill it in; Surface says what the lists are.
template <int dim>
struct SurfaceParts {
  std::shared_ptr<const linalg::VectorLayout> layout;
  GlobalIndex num_nodes_global = 0, num_obstacle_vertices_global = 0;
  LocalIndex num_obstacle_vertices = 0; ///< local ones
  std::int32_t num_bodies = 0;
  std::vector<std::string> names; ///< names of bodies, then of obstacles

  LocalIndex num_owned = 0;
  std::vector<SurfaceVertex<dim>> vertices;
  std::vector<LocalIndex> nodes, obstacle_vertices;
  std::vector<Carrier> carriers;
  std::vector<std::array<LocalIndex, 2>> edges;
  std::vector<double> edge_areas;
  std::vector<char> edge_is_flat;
  std::vector<std::array<LocalIndex, 3>> faces;
  std::vector<std::array<std::int8_t, 3>> edge_faces;
  std::vector<std::uint8_t> face_flat_edges;
  std::vector<std::int8_t> facet_sides, facet_orientations;
  /// Of a cell that repeats. Copies of bodies have numbers of their own, behind those of the bodies, and
  /// never collide with each other.
  std::optional<Copies<dim>> copies;

  LocalIndex num_vertices() const { return vertices.size(); }
};

/// A distributed mesh of triangles (3D) or edges (2D) on which bodies collide and which may deform. Its
/// vertices move with nodes, the blocks of a vector of displacements, or are obstacles, which are moved from
/// outside. Every rank holds the vertices whose node it owns, its share of the obstacle vertices, and the
/// edges and faces whose vertex with the smallest id it owns; other vertices of those are ghosts. Copies of a
/// cell that repeats are where what they are copies of is: their bodies count as obstacles (is_obstacle),
/// their vertices move with nodes.
///
/// Made by fem::boundary_surface of a volume mesh, by surface_of_sheets of thin sheets and by
/// surface_of_obstacles (build.hpp).
template <int dim>
class Surface {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  explicit Surface(SurfaceParts<dim> parts) : parts_(std::move(parts)) {}
  const SurfaceParts<dim>& parts() const { return parts_; }

  const parallel::Communicator& comm() const { return *parts_.layout->comm; }
  /// Layout of vectors of displacements, with dim components per node.
  const std::shared_ptr<const linalg::VectorLayout>& layout() const { return parts_.layout; }
  /// Nodes known here, those that no vertex moves with and ghosts included.
  LocalIndex num_nodes() const { return parts_.layout->num_local(); }
  /// Ids from this number on are those of obstacle vertices.
  GlobalIndex num_nodes_global() const { return parts_.num_nodes_global; }
  /// Obstacle vertices known here.
  LocalIndex num_obstacle_vertices() const { return parts_.num_obstacle_vertices; }
  GlobalIndex num_obstacle_vertices_global() const { return parts_.num_obstacle_vertices_global; }
  /// Vertices of obstacles and copies, which meet bodies alone, over all ranks. They, and what is made of
  /// them, follow those of bodies in the lists of owned vertices, edges and faces.
  GlobalIndex num_vertices_beside_bodies() const {
    return num_obstacle_vertices_global() + (parts_.copies ? parts_.copies->num_vertices_global : 0);
  }

  LocalIndex num_owned() const { return parts_.num_owned; }
  LocalIndex num_vertices() const { return parts_.num_vertices(); }
  /// Owned vertices - first those of nodes, then those of obstacles -, then ghosts.
  const std::vector<SurfaceVertex<dim>>& vertices() const { return parts_.vertices; }
  /// Local node of a vertex; -1 for obstacles.
  LocalIndex node(LocalIndex vertex) const { return parts_.nodes[vertex]; }
  /// Local obstacle vertex of a vertex; -1 for nodes.
  LocalIndex obstacle_vertex(LocalIndex vertex) const { return parts_.obstacle_vertices[vertex]; }
  /// Owned edges, vertices ascending in id; in 2D the primitives of the surface, in 3D the edges of its
  /// faces and free edges.
  const std::vector<std::array<LocalIndex, 2>>& edges() const { return parts_.edges; }
  /// A third of the rest area of the faces around each edge (3D) [m^2].
  const std::vector<double>& edge_areas() const { return parts_.edge_areas; }
  /// Owned faces (3D), vertices ascending in id.
  const std::vector<std::array<LocalIndex, 3>>& faces() const { return parts_.faces; }
  /// The primitives with a measure: faces (3D) or edges (2D).
  const std::vector<std::array<LocalIndex, dim>>& facets() const {
    if constexpr (dim == 2)
      return parts_.edges;
    else
      return parts_.faces;
  }
  /// Per face, the number of faces at each of its edges, edge i from its vertex i to (i + 1) % 3: 2 on
  /// bodies, whose boundary is closed - that of a cell that repeats goes on in the next one -, 1 at the
  /// border of a sheet.
  const std::vector<std::array<std::int8_t, 3>>& edge_faces() const { return parts_.edge_faces; }
  /// Per edge, whether it lies inside of a flat part of an obstacle that stays flat.
  const std::vector<char>& edge_is_flat() const { return parts_.edge_is_flat; }
  /// Per owned facet of a body, the side of the material: +1 where (v1 - v0) x (v2 - v0), or in 2D v1 - v0
  /// turned clockwise, points out of the body, -1 where it points inwards; of a copy as of its body; 0 on
  /// sheets and obstacles, which have no inside.
  const std::vector<std::int8_t>& facet_sides() const { return parts_.facet_sides; }
  /// Per owned facet, what this vector is multiplied by to have the direction of the normal: out of a body,
  /// or as the vertices go round in the file of a sheet or obstacle.
  const std::vector<std::int8_t>& facet_orientations() const { return parts_.facet_orientations; }
  /// Per face, bit i: its edge i, counted as in edge_faces, is flat.
  const std::vector<std::uint8_t>& face_flat_edges() const { return parts_.face_flat_edges; }

  /// Whether this is an obstacle, or a copy of a body: what never meets others of its kind.
  bool is_obstacle(std::int32_t body) const { return body >= num_bodies(); }
  /// Name of a deformable body or obstacle.
  const std::string& body_name(std::int32_t body) const { return parts_.names[body]; }
  std::int32_t num_bodies() const { return parts_.num_bodies; }

  /// Current positions of all vertices known here: rest + u for nodes, rest + `obstacle_displacement` (dim
  /// entries per local obstacle vertex; empty: zero) for the others [m].
  std::vector<Point> positions(std::span<const double> u,
                               std::span<const double> obstacle_displacement = {}) const;
  /// Displacements of all vertices known here, from the same fields. Both are collective where there are
  /// copies.
  std::vector<Point> displacements(std::span<const double> u,
                                   std::span<const double> obstacle_displacement = {}) const;

  /// Adds what forces on copies do to the nodes a period apart that these move with: g += factor times .. on
  /// owned entries, `field` at owned vertices; what they do to their own nodes is left out. Collective; does
  /// nothing where there are no copies.
  void add_to_ends(const std::vector<Point>& field, double factor, std::span<double> g) const;

  /// Derivative of a sum of areas (SurfaceVertex::area, edge_areas) by the rest positions of all vertices
  /// known here: this rank's shares [m^(dim-2)]. Primitives of measure zero have none, and what has no face
  /// counts as fixed in 3D. Collective.
  std::vector<Point> area_gradient(const AreaField& sum) const;
  /// The transpose of area_gradient(): changes of the areas of owned vertices and edges where the rest
  /// positions of all vertices known here change by `field`. Collective.
  AreaField area_changes(const std::vector<Point>& field) const;
  /// Takes a derivative by the rest positions of all vertices known here to what they follow: adds it to the
  /// local mesh vertices - a node on an edge or face moves with the vertices around it by its barycentric
  /// coordinates, a vertex of a sheet is one - and to the local obstacle vertices. Not collective.
  void add_to_rest(const std::vector<Point>& field, std::span<Point> mesh_vertices,
                   std::span<Point> obstacle_vertices) const;
  /// The transpose of add_to_rest(): changes of the rest positions of all vertices known here, with those of
  /// the local mesh and obstacle vertices; what has an empty list does not move. Not collective.
  std::vector<Point> rest_changes(std::span<const Point> mesh_vertices,
                                  std::span<const Point> obstacle_vertices) const;

private:
  LocalIndex owned_node(GlobalIndex block) const;

  SurfaceParts<dim> parts_;
};

} // namespace recoil::surface
