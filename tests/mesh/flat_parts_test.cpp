#include <map>
#include <numbers>
#include <set>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "recoil/mesh/distributed_surfaces.hpp"

namespace recoil::mesh {
namespace {

using Edge = std::array<GlobalIndex, 2>;

/// What one rank has of a distributed surface, by ids.
struct Parts {
  std::map<GlobalIndex, VertexDegrees> vertices; ///< owned
  std::map<Edge, bool> edges;
  std::vector<std::pair<Edge, bool>> face_edges;

  template <int dim>
  explicit Parts(const DistributedObstacles<dim>& found) {
    const auto id = [&](LocalIndex v) { return found.vertex_ids[static_cast<std::size_t>(v)]; };
    for (LocalIndex v = 0; v < found.num_owned_vertices; ++v)
      vertices[id(v)] = found.vertex_degrees[static_cast<std::size_t>(v)];
    for (std::size_t e = 0; e < found.edges.size(); ++e)
      edges[{id(found.edges[e][0]), id(found.edges[e][1])}] = found.edge_is_flat[e] != 0;
    for (std::size_t f = 0; f < found.faces.size(); ++f)
      for (std::size_t i = 0; i < 3; ++i) {
        const auto [low, high] = std::minmax(id(found.faces[f][i]), id(found.faces[f][(i + 1) % 3]));
        face_edges.push_back({{low, high}, (found.face_flat_edges[f] >> i & 1U) != 0});
      }
  }
};

template <int dim>
Parts parts_of(const parallel::Communicator& comm, SurfaceMesh surface) {
  surface.name = "surface";
  return Parts(distribute_obstacles<dim>(comm, comm.rank() == 0 ? std::vector{std::move(surface)}
                                                                : std::vector<SurfaceMesh>()));
}

/// A cube from 0 to 1, whose sides are cut into four cells of two triangles, turned in space.
SurfaceMesh turned_cube() {
  SurfaceMesh cube;
  std::map<std::array<int, 3>, std::int32_t> number;
  const auto vertex = [&](std::array<int, 3> at) {
    const auto [found, is_new] = number.insert({at, static_cast<std::int32_t>(cube.vertices.size())});
    if (is_new) cube.vertices.emplace_back(0.5 * at[0], 0.5 * at[1], 0.5 * at[2]);
    return found->second;
  };
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const int side : {0, 2})
      for (const int i : {0, 1})
        for (const int j : {0, 1}) {
          std::array<std::int32_t, 4> corners{};
          for (int k = 0; k < 4; ++k) {
            std::array<int, 3> at{};
            at[axis] = side;
            at[(axis + 1) % 3] = i + (k == 1 || k == 2 ? 1 : 0);
            at[(axis + 2) % 3] = j + (k >= 2 ? 1 : 0);
            corners[static_cast<std::size_t>(k)] = vertex(at);
          }
          cube.triangles.push_back({corners[0], corners[1], corners[2]});
          // Sides of triangles do not matter.
          cube.triangles.push_back({corners[2], corners[0], corners[3]});
        }
  const Eigen::AngleAxisd turn(0.7, Eigen::Vector3d(1, 2, -0.5).normalized());
  for (Eigen::Vector3d& p : cube.vertices) p = turn * p + Eigen::Vector3d(3, -2, 5);
  return cube;
}

TEST(FlatParts, OfACubeAreItsSides) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Parts parts = parts_of<3>(comm, turned_cube());
  std::map<VertexShape, int> shapes;
  for (const auto& [id, degrees] : parts.vertices) {
    ++shapes[degrees.shape];
    EXPECT_EQ(degrees.creases, degrees.shape == VertexShape::flat       ? 0
                               : degrees.shape == VertexShape::straight ? 2
                                                                        : 3);
  }
  EXPECT_EQ(comm.sum(GlobalIndex{shapes[VertexShape::corner]}), 8);
  EXPECT_EQ(comm.sum(GlobalIndex{shapes[VertexShape::straight]}), 12);
  EXPECT_EQ(comm.sum(GlobalIndex{shapes[VertexShape::flat]}), 6);
  GlobalIndex creases = 0, flat_sides = 0;
  for (const auto& [edge, is_flat] : parts.edges) creases += is_flat ? 0 : 1;
  for (const auto& [edge, is_flat] : parts.face_edges) flat_sides += is_flat ? 1 : 0;
  EXPECT_EQ(comm.sum(creases), 24);
  EXPECT_EQ(comm.sum(flat_sides), 2 * 48);
}

/// Two triangles over the edge (0, 1); the second one's tip is where `tip` says.
Parts two_triangles(const parallel::Communicator& comm, const Eigen::Vector3d& tip) {
  SurfaceMesh surface;
  surface.vertices = {{0, 0, 0}, {1, 0, 0}, {0.3, 1, 0}, tip};
  surface.triangles = {{0, 1, 2}, {1, 3, 0}};
  return parts_of<3>(comm, surface);
}

TEST(FlatParts, EndWhereFacesBendOrLieOnEachOther) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [tip, expected] :
       {std::pair(Eigen::Vector3d(0.6, -2, 0), true), std::pair(Eigen::Vector3d(0.6, -2, 1e-12), true),
        std::pair(Eigen::Vector3d(0.6, -2, 1e-6), false), std::pair(Eigen::Vector3d(0.6, 2, 0), false)})
    for (const auto& [edge, is_flat] : two_triangles(comm, tip).edges)
      EXPECT_EQ(is_flat, expected && edge == Edge({0, 1})) << tip.transpose();
}

/// Six triangles around a vertex: closed and flat, open with a straight rim, and two fans that share the
/// vertex alone.
TEST(FlatParts, KnowTheVerticesInsideThem) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [first, last, skip, expected] :
       {std::tuple(0, 6, -1, VertexShape::flat), std::tuple(0, 3, -1, VertexShape::straight),
        std::tuple(0, 2, -1, VertexShape::corner), std::tuple(0, 4, -1, VertexShape::corner),
        std::tuple(0, 6, 2, VertexShape::corner)}) {
    SurfaceMesh surface;
    surface.vertices = {{0, 0, 0}};
    for (int k = 0; k < 6; ++k)
      surface.vertices.emplace_back(std::cos(k * std::numbers::pi / 3), std::sin(k * std::numbers::pi / 3),
                                    0);
    for (int k = first; k < last; ++k)
      if (k != skip) surface.triangles.push_back({0, 1 + k, 1 + (k + 1) % 6});
    for (const auto& [id, degrees] : parts_of<3>(comm, surface).vertices)
      if (id == 0) {
        EXPECT_EQ(degrees.shape, expected) << first << last << skip;
      }
  }
}

TEST(FlatParts, AreOfSurfacesAlone) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  SurfaceMesh line;
  line.vertices = {{0, 0, 0}, {1, 0.5, 0}, {4, 2, 0}};
  line.edges = {{0, 1}, {1, 2}};
  for (const auto& [id, degrees] : parts_of<2>(comm, line).vertices) {
    EXPECT_EQ(degrees.shape, VertexShape::corner) << id;
    EXPECT_EQ(degrees.creases, degrees.edges) << id;
  }
  for (const auto& [id, degrees] : parts_of<3>(comm, line).vertices)
    EXPECT_EQ(degrees.shape, id == 1 ? VertexShape::straight : VertexShape::corner) << id;
}

} // namespace
} // namespace recoil::mesh
