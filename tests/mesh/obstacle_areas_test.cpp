#include "recoil/mesh/distributed_surfaces.hpp"

#include <map>

#include <gtest/gtest.h>

namespace recoil::mesh {
namespace {

/// Areas by the id of the vertex, of those owned here.
template <int dim>
std::map<GlobalIndex, double> vertex_areas(const DistributedObstacles<dim>& obstacles) {
  std::map<GlobalIndex, double> areas;
  for (std::size_t v = 0; v < static_cast<std::size_t>(obstacles.num_owned_vertices); ++v)
    areas[obstacles.vertex_ids[v]] = obstacles.vertex_area[v];
  return areas;
}

std::vector<SurfaceMesh> on_first_rank(const parallel::Communicator& comm, SurfaceMesh surface) {
  return comm.rank() == 0 ? std::vector{std::move(surface)} : std::vector<SurfaceMesh>();
}

/// A triangle of area 6 with a free edge of length 2 at one corner, a free edge of length 5 and a point.
TEST(ObstacleAreas, WithoutFacesAreThoseOfEdgesAndPoints) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  SurfaceMesh surface;
  surface.name = "mixed";
  surface.vertices = {{0, 0, 0}, {4, 0, 0}, {0, 3, 0}, {0, 0, 2}, {7, 0, 0}, {7, 3, 4}, {9, 9, 9}};
  surface.triangles = {{0, 1, 2}};
  surface.edges = {{0, 3}, {4, 5}};
  surface.points = {6};
  const auto obstacles = distribute_obstacles<3>(comm, on_first_rank(comm, surface));
  const std::map<GlobalIndex, double> expected{{0, 2}, {1, 2}, {2, 2}, {3, 1}, {4, 2.5}, {5, 2.5}, {6, 1}};
  const auto found = vertex_areas(obstacles);
  EXPECT_EQ(comm.sum(static_cast<double>(found.size())), 7);
  for (const auto& [id, area] : found) EXPECT_NEAR(area, expected.at(id), 1e-14) << id;
  double sum = 0;
  for (const double area : obstacles.edge_area) sum += area;
  EXPECT_NEAR(comm.sum(sum), 6 + 2 + 5, 1e-14);
}

TEST(ObstacleAreas, InTwoDimensionsAreHalfTheEdgesAround) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  SurfaceMesh surface;
  surface.name = "line";
  surface.vertices = {{0, 0, 0}, {2, 0, 0}, {2, 4, 0}, {5, 5, 0}};
  surface.edges = {{0, 1}, {1, 2}};
  surface.points = {3};
  const auto obstacles = distribute_obstacles<2>(comm, on_first_rank(comm, surface));
  const std::map<GlobalIndex, double> expected{{0, 1}, {1, 3}, {2, 2}, {3, 1}};
  const auto found = vertex_areas(obstacles);
  EXPECT_EQ(comm.sum(static_cast<double>(found.size())), 4);
  for (const auto& [id, area] : found) EXPECT_NEAR(area, expected.at(id), 1e-14) << id;
}

} // namespace
} // namespace recoil::mesh
