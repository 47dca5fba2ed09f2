#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "recoil/mesh/distributed_surfaces.hpp"

namespace recoil::mesh {
namespace {

/// Hills with a plain between them, numbered at random, with fins (edges of three triangles), free edges, one
/// of them along a side, and points.
SurfaceMesh terrain(int divisions, double shift) {
  SurfaceMesh surface;
  surface.name = "terrain";
  const int n = divisions + 1;
  std::vector<std::int32_t> number(std::size_t(n) * std::size_t(n));
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), std::mt19937(7));
  surface.vertices.resize(number.size());
  const auto vertex = [&](int i, int j) { return number[std::size_t(i * n + j)]; };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double height = std::max(0.0, std::sin(0.9 * i) * std::cos(0.7 * j));
      surface.vertices[std::size_t(vertex(i, j))] = {shift + 0.1 * i, 0.1 * j, 0.1 * height};
    }
  for (int i = 0; i < divisions; ++i)
    for (int j = 0; j < divisions; ++j) {
      surface.triangles.push_back({vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1)});
      surface.triangles.push_back({vertex(i + 1, j + 1), vertex(i, j + 1), vertex(i, j)});
    }
  std::shuffle(surface.triangles.begin(), surface.triangles.end(), std::mt19937(3));
  const auto add = [&](double x, double y, double z) {
    surface.vertices.emplace_back(shift + x, y, z);
    return std::int32_t(surface.vertices.size()) - 1;
  };
  for (int i = 0; i + 1 < n; i += 3)
    surface.triangles.push_back({vertex(i, 2), vertex(i + 1, 2), add(0.1 * i, 0.2, 0.3)});
  surface.edges = {{vertex(1, 1), add(0.1, 0.1, 0.5)}, {add(0, 0, 0.6), add(0.3, 0, 0.7)}};
  surface.edges.push_back({vertex(3, 3), vertex(4, 3)});
  surface.points = {add(0.2, 0.2, 0.9)};
  return surface;
}

/// What a share tells of its vertices, edges and faces, by ids.
struct Told {
  struct Vertex {
    std::vector<double> place_and_area;
    std::vector<std::int32_t> numbers;
    bool operator==(const Vertex&) const = default;
  };
  std::map<GlobalIndex, Vertex> owned, ghosts;
  std::map<std::vector<GlobalIndex>, std::pair<double, int>> edges;
  std::map<std::vector<GlobalIndex>, std::vector<int>> faces;

  template <int dim>
  explicit Told(const DistributedSurfaces<dim>& share) {
    const auto ids = [&](const auto& primitive) {
      std::vector<GlobalIndex> result;
      for (const LocalIndex v : primitive) result.push_back(share.vertex_ids[std::size_t(v)]);
      return result;
    };
    for (std::size_t v = 0; v < share.vertices.size(); ++v) {
      const auto& [num_edges, num_faces, face_edges, creases, shape] = share.vertex_degrees[v];
      auto& told = std::cmp_less(v, share.num_owned_vertices) ? owned : ghosts;
      Vertex& vertex = told[share.vertex_ids[v]];
      for (std::size_t k = 0; k < dim; ++k) vertex.place_and_area.push_back(share.vertices[v][LocalIndex(k)]);
      vertex.place_and_area.push_back(share.vertex_area[v]);
      vertex.numbers = {share.vertex_surface[v], num_edges, num_faces, face_edges, creases,
                        static_cast<int>(shape)};
    }
    for (std::size_t e = 0; e < share.edges.size(); ++e)
      edges[ids(share.edges[e])] = {share.edge_area[e],
                                    share.edge_is_flat[e] + (dim == 2 ? 2 * share.facet_orientation[e] : 0)};
    for (std::size_t f = 0; f < share.faces.size(); ++f) {
      std::vector<int>& face = faces[ids(share.faces[f])];
      face = {share.face_flat_edges[f], share.facet_orientation[f]};
      for (const std::int8_t count : share.edge_faces[f]) face.push_back(count);
    }
  }
};

/// Every primitive is on one rank, with the same bits as where one rank has all; rank 0 packs for all ranks
/// at once or for each by itself.
template <int dim>
void compare_with_whole(const std::vector<SurfaceMesh>& surfaces, SurfacePartition partition) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Told whole(distribute_surfaces<dim>(alone, surfaces, partition));
  for (const std::size_t bytes_at_once : {std::size_t(1), std::size_t(1) << 24}) {
    const auto share = distribute_surfaces<dim>(
        comm, comm.rank() == 0 ? surfaces : std::vector<SurfaceMesh>(), partition, bytes_at_once);
    const Told told(share);
    EXPECT_EQ(comm.sum(GlobalIndex(told.owned.size())), GlobalIndex(whole.owned.size()));
    EXPECT_EQ(comm.sum(GlobalIndex(told.edges.size())), GlobalIndex(whole.edges.size()));
    EXPECT_EQ(comm.sum(GlobalIndex(told.faces.size())), GlobalIndex(whole.faces.size()));
    EXPECT_EQ(share.num_vertices_global, GlobalIndex(whole.owned.size()));
    EXPECT_EQ(share.names.size(), surfaces.size());
    for (const auto* vertices : {&told.owned, &told.ghosts})
      for (const auto& [id, vertex] : *vertices) EXPECT_EQ(vertex, whole.owned.at(id)) << id;
    for (const auto& [ids, edge] : told.edges) EXPECT_EQ(edge, whole.edges.at(ids));
    for (const auto& [ids, face] : told.faces) EXPECT_EQ(face, whole.faces.at(ids));
    for (std::size_t v = 0; v < share.vertices.size(); ++v)
      EXPECT_EQ(share.vertex_owner[v] == comm.rank(), std::cmp_less(v, share.num_owned_vertices));
  }
}

TEST(SurfaceShare, HasTheBitsOfTheWhole) {
  const std::vector<SurfaceMesh> surfaces{terrain(11, 0), terrain(4, 2)};
  compare_with_whole<3>(surfaces, SurfacePartition::curve);
  compare_with_whole<3>(surfaces, SurfacePartition::graph);
}

TEST(SurfaceShare, KnowsWhatIsFlatAndSharp) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto share = distribute_obstacles<3>(comm, comm.rank() == 0 ? std::vector{terrain(11, 0)}
                                                                    : std::vector<SurfaceMesh>());
  const auto of = [&](VertexShape shape) {
    GlobalIndex count = 0;
    for (LocalIndex v = 0; v < share.num_owned_vertices; ++v)
      count += share.vertex_degrees[std::size_t(v)].shape == shape;
    return comm.sum(count);
  };
  EXPECT_GT(of(VertexShape::flat), 10);
  EXPECT_GT(of(VertexShape::corner), 10);
  GlobalIndex of_three = 0;
  for (const auto& counts : share.edge_faces) of_three += std::ranges::count(counts, 3);
  EXPECT_EQ(comm.sum(of_three), 12); // four fins, each on a side of two triangles
}

TEST(SurfaceShare, OfCurvesHasTheBitsOfTheWhole) {
  SurfaceMesh line = terrain(5, 0);
  line.triangles.clear();
  line.edges.clear();
  for (Eigen::Vector3d& p : line.vertices) p.z() = 0;
  for (std::int32_t v = 0; v + 4 < std::ssize(line.vertices); ++v)
    line.edges.push_back(v % 3 == 0 ? std::array{v + 1, v} : std::array{v, v + 1});
  compare_with_whole<2>({line}, SurfacePartition::curve);
}

TEST(SurfaceShare, MayBeEmpty) {
  SurfaceMesh triangle;
  triangle.name = "triangle";
  triangle.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  triangle.triangles = {{0, 2, 1}};
  compare_with_whole<3>({triangle}, SurfacePartition::curve);
  compare_with_whole<3>({}, SurfacePartition::curve);
}

} // namespace
} // namespace recoil::mesh
