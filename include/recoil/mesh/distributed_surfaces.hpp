#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/types.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// What a vertex is to the shape of a surface, whatever its triangles are.
enum class VertexShape : std::uint8_t {
  corner,
  straight, ///< on a straight edge, or on a straight rim: what is flat next to it ends there
  flat,     ///< inside of a flat part
  repeated  ///< of a cell that repeats: the same vertex as one a period away
};

/// How many primitives of a surface meet at a vertex.
struct VertexDegrees {
  std::int32_t edges;
  std::int32_t faces;      ///< 0 in 2D
  std::int32_t face_edges; ///< edges that bound a face; 0 in 2D
  std::int32_t creases;    ///< edges that do not lie inside of a flat part
  VertexShape shape;
};

/// The share of surfaces - obstacles, or sheets that deform - that one rank holds. An edge or face belongs to
/// the owner of its vertex with the smallest id, which keeps copies of the other vertices as ghosts. Every
/// edge of a triangle is an edge here.
template <int dim>
struct DistributedSurfaces {
  GlobalIndex num_vertices_global = 0;
  LocalIndex num_owned_vertices = 0;

  std::vector<Eigen::Matrix<double, dim, 1>> vertices; ///< rest positions [m]; owned ones, then ghosts
  std::vector<GlobalIndex> vertex_ids;                 ///< 0 .. num_vertices_global - 1, surfaces in order
  std::vector<int> vertex_owner;
  std::vector<LocalIndex> index_at_owner;   ///< local number of the vertex on its owner
  std::vector<std::int32_t> vertex_surface; ///< index into `names`
  /// 1/dim of the measure of the faces (2D: edges) around it [m^(dim-1)]; without faces half of the length of
  /// the edges around it, without edges 1.
  std::vector<double> vertex_area;

  std::vector<VertexDegrees> vertex_degrees; ///< degrees of owned vertices and ghosts

  std::vector<std::array<LocalIndex, 2>> edges; ///< owned
  std::vector<double> edge_area; ///< a third of the area of the faces around it, else its length; 0 in 2D
  /// Whether an edge lies inside of a flat part: between two faces that continue each other in one plane.
  std::vector<char> edge_is_flat;
  std::vector<std::array<LocalIndex, 3>> faces; ///< owned; none in 2D
  /// Per face, the number of faces at each of its edges, edge i from its vertex i to (i + 1) % 3.
  std::vector<std::array<std::int8_t, 3>> edge_faces;
  std::vector<std::uint8_t> face_flat_edges; ///< per face, bit i: this edge i is flat
  /// Per face (3D) or edge (2D): +1 where its vertices, ascending in id, go round as they do in the file, or
  /// the edge runs as there; else -1.
  std::vector<std::int8_t> facet_orientation;

  std::vector<std::string> names;
  std::vector<std::int32_t> surface_ids; ///< id of each surface, -1 = never moves

  LocalIndex num_vertices() const { return vertices.size(); }
};

/// Obstacles are surfaces that are moved from outside.
template <int dim>
using DistributedObstacles = DistributedSurfaces<dim>;

/// Which rank owns which vertices of a surface.
enum class SurfacePartition {
  curve, ///< equal blocks along a space-filling curve
  graph  ///< parts of equal size with few edges between them, by METIS
};

/// Gives every rank its share of `surfaces`, which are read on rank 0 only; that one sends what is around the
/// vertices of each rank, and areas, degrees and flat parts are found there. Ids do not depend on the number
/// of ranks; a rank may own nothing.
/// @param bytes_at_once what rank 0 packs before it sends it, about: little beside what a program takes
/// anyway; in eight rounds at most. Results do not depend on it. Collective.
template <int dim>
DistributedSurfaces<dim>
distribute_surfaces(const parallel::Communicator& comm, const std::vector<SurfaceMesh>& surfaces,
                    SurfacePartition partition, std::size_t bytes_at_once = std::size_t(1) << 24);

/// Obstacles, which contact searches by the places where they are, along a curve. Collective.
template <int dim>
DistributedObstacles<dim> distribute_obstacles(const parallel::Communicator& comm,
                                               const std::vector<SurfaceMesh>& surfaces) {
  return distribute_surfaces<dim>(comm, surfaces, SurfacePartition::curve);
}

} // namespace recoil::mesh
