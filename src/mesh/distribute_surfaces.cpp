#include "recoil/mesh/distributed_surfaces.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include <Eigen/Geometry>

#include "mesh/flat_parts.hpp"
#include "mesh/partition.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::mesh {

namespace {

struct VertexRecord {
  std::array<double, 3> position; ///< plain, so that it can travel as bytes
  double area;
  GlobalIndex id;
  std::int32_t owner, index_at_owner, surface;
  VertexDegrees degrees;
};

struct EdgeRecord {
  std::array<GlobalIndex, 2> vertices;
  double area;
  bool is_flat;
  std::int8_t orientation;
};

struct FaceRecord {
  std::array<GlobalIndex, 3> vertices;
  std::int8_t orientation;
  std::array<std::int8_t, 3> edge_faces;
  std::uint8_t flat_edges;
};

/// All surfaces in one list, on rank 0.
struct Everything {
  std::vector<VertexRecord> vertices;
  std::vector<EdgeRecord> edges;
  std::vector<FaceRecord> faces;
};

Eigen::Vector3d position(const VertexRecord& vertex) {
  return {vertex.position[0], vertex.position[1], vertex.position[2]};
}

/// What is summed up over the faces around an edge.
struct AroundEdge {
  double area = 0;
  std::int32_t faces = 0;
  bool is_flat = false;
  std::int8_t orientation = 1; ///< -1: a free edge that runs from the larger id to the smaller
};
using Edges = std::map<std::array<GlobalIndex, 2>, AroundEdge>;

std::array<GlobalIndex, 2> edge_of_face(const FaceRecord& face, std::size_t i) {
  const GlobalIndex a = face.vertices[i], b = face.vertices[(i + 1) % 3];
  return {std::min(a, b), std::max(a, b)};
}

/// Marks what only the cut into triangles makes of flat parts. Curves in 2D count by their pieces.
template <int dim>
void find_flat_parts(Edges& edges, Everything& all) {
  if (dim == 2) {
    for (VertexRecord& vertex : all.vertices) vertex.degrees.creases = vertex.degrees.edges;
    return;
  }
  std::vector<Eigen::Vector3d> points;
  std::vector<FlatParts::Face> faces;
  std::vector<FlatParts::Edge> lines;
  for (const VertexRecord& vertex : all.vertices) points.push_back(position(vertex));
  for (const FaceRecord& face : all.faces) faces.push_back(face.vertices);
  for (const auto& [vertices, around] : edges) lines.push_back(vertices);
  const FlatParts parts(points, faces, lines);
  std::size_t next = 0;
  for (auto& [vertices, around] : edges) {
    around.is_flat = parts.edge_is_flat()[next++];
    if (!around.is_flat)
      for (const GlobalIndex vertex : vertices) ++all.vertices[vertex].degrees.creases;
  }
  for (std::size_t v = 0; v < all.vertices.size(); ++v)
    all.vertices[v].degrees.shape = parts.vertex_shapes()[v];
  for (FaceRecord& face : all.faces)
    for (std::size_t i = 0; i < 3; ++i)
      if (edges.at(edge_of_face(face, i)).is_flat) face.flat_edges |= 1U << i;
}

void count_degrees(const Edges& edges, Everything& all) {
  for (const auto& [edge, around] : edges)
    for (const GlobalIndex vertex : edge) {
      VertexDegrees& degrees = all.vertices[vertex].degrees;
      ++degrees.edges;
      if (around.faces > 0) ++degrees.face_edges;
    }
  constexpr std::int32_t most = std::numeric_limits<std::int8_t>::max();
  for (FaceRecord& face : all.faces)
    for (std::size_t i = 0; i < 3; ++i) {
      ++all.vertices[face.vertices[i]].degrees.faces;
      face.edge_faces[i] = static_cast<std::int8_t>(std::min(most, edges.at(edge_of_face(face, i)).faces));
    }
}

/// What has no face gets the measure of what it has: an edge its length, a vertex half of the edges around
/// it, a single point 1 (as the IPC Toolkit).
template <int dim>
void add_areas_without_faces(Edges& edges, Everything& all) {
  for (auto& [vertices, around] : edges) {
    auto& a = all.vertices[vertices[0]];
    auto& b = all.vertices[vertices[1]];
    const double length = (position(a) - position(b)).norm();
    if (dim == 3 && around.faces == 0) around.area = length;
    if (a.degrees.faces == 0) a.area += 0.5 * length;
    if (b.degrees.faces == 0) b.area += 0.5 * length;
  }
  for (VertexRecord& vertex : all.vertices)
    if (vertex.degrees.edges == 0) vertex.area = 1;
}

/// +1 where the vertices in ascending order go round as they do in the triangle, else -1.
std::int8_t orientation_of(const std::array<std::int32_t, 3>& triangle) {
  const auto& [a, b, c] = triangle;
  return (a < b) + (b < c) + (c < a) == 2 ? 1 : -1;
}

template <int dim>
Everything join(const std::vector<SurfaceMesh>& surfaces) {
  Everything all;
  Edges edges;
  for (std::int32_t surface = 0; surface < std::ssize(surfaces); ++surface) {
    const SurfaceMesh& mesh = surfaces[surface];
    const auto first = std::ssize(all.vertices);
    for (const Eigen::Vector3d& p : mesh.vertices)
      all.vertices.push_back({{p.x(), p.y(), p.z()}, 0.0, std::ssize(all.vertices), 0, 0, surface, {}});
    for (const auto& triangle : mesh.triangles) {
      FaceRecord face{
          {first + triangle[0], first + triangle[1], first + triangle[2]}, orientation_of(triangle), {}, 0};
      const auto corner = [&](std::size_t i) { return position(all.vertices[face.vertices[i]]); };
      const double share = (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm() / 6;
      for (std::size_t i = 0; i < 3; ++i) {
        all.vertices[face.vertices[i]].area += share;
        AroundEdge& around = edges[edge_of_face(face, i)];
        around.area += share;
        ++around.faces;
      }
      std::sort(face.vertices.begin(), face.vertices.end());
      all.faces.push_back(face);
    }
    for (const auto& edge : mesh.edges) {
      const GlobalIndex a = first + edge[0], b = first + edge[1];
      edges[{std::min(a, b), std::max(a, b)}].orientation = a < b ? 1 : -1;
    }
  }
  count_degrees(edges, all);
  find_flat_parts<dim>(edges, all);
  add_areas_without_faces<dim>(edges, all);
  for (const auto& [vertices, around] : edges)
    all.edges.push_back({vertices, around.area, around.is_flat, around.orientation});
  return all;
}

/// Numbers the vertices of each rank along the Morton curve.
/// @param parts owner of each vertex; empty: equal blocks along the curve.
template <int dim>
void assign_owners(int num_ranks, const std::vector<int>& parts, std::vector<VertexRecord>& vertices) {
  Eigen::AlignedBox<double, dim> box;
  const auto place = [&](const VertexRecord& v) -> Eigen::Matrix<double, dim, 1> {
    return position(v).template head<dim>();
  };
  for (const VertexRecord& v : vertices) box.extend(place(v));
  std::vector<std::tuple<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    order.emplace_back(geometry::morton_code<dim>(place(vertices[i]), box.min(), box.max()), i);
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> count(num_ranks, 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t i = std::get<1>(order[k]);
    VertexRecord& vertex = vertices[i];
    vertex.owner = parts.empty() ? static_cast<std::int32_t>(k * num_ranks / order.size()) : parts[i];
    vertex.index_at_owner = count[vertex.owner]++;
  }
}

std::vector<int> parts_of_graph(int num_ranks, const Everything& all) {
  std::vector<Eigen::Vector3d> points;
  std::vector<std::array<GlobalIndex, 2>> edges;
  for (const VertexRecord& vertex : all.vertices) points.push_back(position(vertex));
  for (const EdgeRecord& edge : all.edges) edges.push_back(edge.vertices);
  return partition_vertices(points, edges, num_ranks);
}

/// What each rank gets.
struct Parcels {
  explicit Parcels(int num_ranks) : vertices(num_ranks), edges(vertices.size()), faces(vertices.size()) {}
  std::vector<std::vector<VertexRecord>> vertices;
  std::vector<std::vector<EdgeRecord>> edges;
  std::vector<std::vector<FaceRecord>> faces;
};

Parcels pack(int num_ranks, const Everything& all) {
  Parcels parcels(num_ranks);
  std::vector<std::vector<GlobalIndex>> needed(parcels.vertices.size());
  const auto owner = [&](GlobalIndex id) -> std::size_t { return all.vertices[id].owner; };
  const auto need = [&](std::size_t rank, auto vertices) {
    for (const GlobalIndex id : vertices)
      if (owner(id) != rank) needed[rank].push_back(id);
  };
  // Owned vertices in the order of index_at_owner.
  for (const VertexRecord& v : all.vertices) parcels.vertices[v.owner].push_back(v);
  for (auto& list : parcels.vertices)
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.index_at_owner < b.index_at_owner; });
  for (const EdgeRecord& edge : all.edges) {
    parcels.edges[owner(edge.vertices[0])].push_back(edge);
    need(owner(edge.vertices[0]), edge.vertices);
  }
  for (const FaceRecord& face : all.faces) {
    parcels.faces[owner(face.vertices[0])].push_back(face);
    need(owner(face.vertices[0]), face.vertices);
  }
  for (std::size_t rank = 0; rank < needed.size(); ++rank) {
    std::sort(needed[rank].begin(), needed[rank].end());
    needed[rank].erase(std::unique(needed[rank].begin(), needed[rank].end()), needed[rank].end());
    for (const GlobalIndex id : needed[rank]) parcels.vertices[rank].push_back(all.vertices[id]);
  }
  return parcels;
}

} // namespace

template <int dim>
DistributedSurfaces<dim> distribute_surfaces(const parallel::Communicator& comm,
                                             const std::vector<SurfaceMesh>& surfaces,
                                             SurfacePartition partition) {
  DistributedSurfaces<dim> share;
  Parcels parcels(comm.size());
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    Everything all = join<dim>(surfaces);
    const bool by_graph = partition == SurfacePartition::graph;
    assign_owners<dim>(comm.size(), by_graph ? parts_of_graph(comm.size(), all) : std::vector<int>(),
                       all.vertices);
    parcels = pack(comm.size(), all);
    share.num_vertices_global = std::ssize(all.vertices);
    for (const SurfaceMesh& surface : surfaces) {
      share.names.push_back(surface.name);
      share.surface_ids.push_back(surface.surface_id);
    }
  });
  share.num_vertices_global = comm.sum(share.num_vertices_global);
  comm.broadcast(share.names);
  comm.broadcast(share.surface_ids);

  const auto vertices = parallel::exchange(comm, parcels.vertices);
  const auto edges = parallel::exchange(comm, parcels.edges);
  const auto faces = parallel::exchange(comm, parcels.faces);
  std::unordered_map<GlobalIndex, LocalIndex> local;
  for (const VertexRecord& v : vertices[0]) {
    local[v.id] = share.num_vertices();
    share.vertices.push_back(position(v).template head<dim>());
    share.vertex_ids.push_back(v.id);
    share.vertex_owner.push_back(v.owner);
    share.index_at_owner.push_back(v.index_at_owner);
    share.vertex_surface.push_back(v.surface);
    share.vertex_area.push_back(v.area);
    share.vertex_degrees.push_back(v.degrees);
    if (v.owner == comm.rank()) ++share.num_owned_vertices;
  }
  for (const EdgeRecord& edge : edges[0]) {
    share.edges.push_back({local.at(edge.vertices[0]), local.at(edge.vertices[1])});
    share.edge_area.push_back(edge.area);
    share.edge_is_flat.push_back(edge.is_flat ? 1 : 0);
    if (dim == 2) share.facet_orientation.push_back(edge.orientation);
  }
  for (const FaceRecord& face : faces[0]) {
    const auto& [a, b, c] = face.vertices;
    share.faces.push_back({local.at(a), local.at(b), local.at(c)});
    share.edge_faces.push_back(face.edge_faces);
    share.face_flat_edges.push_back(face.flat_edges);
    share.facet_orientation.push_back(face.orientation);
  }
  return share;
}

template DistributedSurfaces<2> distribute_surfaces(const parallel::Communicator&,
                                                    const std::vector<SurfaceMesh>&, SurfacePartition);
template DistributedSurfaces<3> distribute_surfaces(const parallel::Communicator&,
                                                    const std::vector<SurfaceMesh>&, SurfacePartition);

} // namespace recoil::mesh
