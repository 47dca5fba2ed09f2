#include "mesh_input/support.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"

namespace recoil::mesh {
namespace {

using Eigen::Vector3d;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Edge = std::array<std::int32_t, 2>;

GeometrySpec obstacle(Extract extract = Extract::volume) {
  GeometrySpec spec;
  spec.name = "floor";
  spec.where = "/geometry/1";
  spec.is_obstacle = true;
  spec.extract = extract;
  return spec;
}

TEST(Obstacle, TetrahedraBecomeTheirSurface) {
  auto raw = five_tetrahedra();
  raw.vertices.push_back({0.5, 0.5, 0.5});
  auto spec = obstacle();
  spec.obstacle_id = 4;
  const auto surface = obstacle_surface(raw, spec, 3);
  EXPECT_EQ(surface.triangles.size(), 12u);
  EXPECT_EQ(surface.vertices.size(), 8u) << "unused vertices are dropped";
  EXPECT_TRUE(surface.edges.empty());
  EXPECT_EQ(surface.surface_id, 4);
  EXPECT_EQ(surface.name, "floor");
  double flux = 0;
  for (const auto& t : surface.triangles) {
    const auto p = [&](std::size_t i) { return surface.vertices[static_cast<std::size_t>(t[i])]; };
    flux += p(0).dot(p(1).cross(p(2)));
  }
  EXPECT_NEAR(flux, 6, 1e-14) << "outward normals";
  spec.transformation.scale = {-1, 1, 1};
  flux = 0;
  for (const auto mirrored = obstacle_surface(raw, spec, 3); const auto& t : mirrored.triangles) {
    const auto p = [&](std::size_t i) { return mirrored.vertices[static_cast<std::size_t>(t[i])]; };
    flux += p(0).dot(p(1).cross(p(2)));
  }
  EXPECT_NEAR(flux, 6, 1e-14) << "also when mirrored";
}

TEST(Obstacle, TrianglesEdgesAndPointsIn3D) {
  auto raw = two_triangles();
  raw.vertices.push_back({5, 5, 5});
  raw.vertices.push_back({6, 6, 6});
  raw.vertices.push_back({7, 7, 7});
  raw.edges = {{4, 5}};
  raw.points = {6};
  const auto surface = obstacle_surface(raw, obstacle(), 3);
  EXPECT_EQ(surface.triangles.size(), 2u);
  EXPECT_THAT(surface.edges, ElementsAre(Edge{4, 5}));
  EXPECT_THAT(surface.points, ElementsAre(6));
  EXPECT_EQ(surface.surface_id, -1);

  const auto edges = obstacle_surface(raw, obstacle(Extract::edges), 3);
  EXPECT_TRUE(edges.triangles.empty());
  EXPECT_THAT(edges.edges,
              ElementsAre(Edge{4, 5}, Edge{0, 1}, Edge{1, 2}, Edge{2, 0}, Edge{2, 3}, Edge{3, 0}));

  const auto points = obstacle_surface(raw, obstacle(Extract::points), 3);
  EXPECT_TRUE(points.triangles.empty());
  EXPECT_TRUE(points.edges.empty());
  EXPECT_THAT(points.points, ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(Obstacle, RepeatedTrianglesEdgesAndVerticesAreMerged) {
  const auto clean = obstacle_surface(two_triangles(), obstacle(), 3);
  auto raw = two_triangles();
  raw.triangles.push_back(raw.triangles[1]);
  raw.triangles.push_back({raw.triangles[0][2], raw.triangles[0][1], raw.triangles[0][0]});
  const std::int32_t shift = raw.vertices.size();
  for (std::int32_t v = 0; v < shift; ++v) raw.vertices.push_back(Vector3d(raw.vertices[v]));
  const auto [a, b, c] = raw.triangles[0];
  raw.triangles.push_back({a + shift, b + shift, c + shift});
  const auto surface = obstacle_surface(raw, obstacle(), 3);
  EXPECT_EQ(surface.triangles, clean.triangles);
  EXPECT_EQ(surface.vertices, clean.vertices);
  EXPECT_EQ(obstacle_surface(raw, obstacle(), 2).edges,
            obstacle_surface(two_triangles(), obstacle(), 2).edges);

  RawMesh line;
  line.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  line.edges = {{0, 1}, {1, 0}, {0, 2}, {2, 3}};
  EXPECT_THAT(obstacle_surface(line, obstacle(), 2).edges, ElementsAre(Edge{0, 1}, Edge{1, 2}));
  line.edges = {{0, 1}, {1, 2}};
  EXPECT_THAT(message_of([&] { obstacle_surface(line, obstacle(), 2); }),
              HasSubstr("edge 1 (counted from 0) uses vertex 1 twice"));
}

TEST(Obstacle, TriangleWithoutAreaIsRefused) {
  RawMesh raw;
  raw.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  raw.triangles = {{0, 1, 2}};
  EXPECT_THAT(message_of([&] { obstacle_surface(raw, obstacle(), 3); }),
              HasSubstr("triangle 0 (counted from 0) has no area"));
}

TEST(Obstacle, TrianglesIn2DBecomeTheirBoundary) {
  auto raw = two_triangles();
  for (auto& p : raw.vertices) p.z() = 3;
  const auto surface = obstacle_surface(raw, obstacle(), 2);
  EXPECT_TRUE(surface.triangles.empty());
  EXPECT_THAT(surface.edges, ElementsAre(Edge{0, 1}, Edge{1, 2}, Edge{2, 3}, Edge{3, 0}));
  EXPECT_EQ(surface.vertices[0].z(), 0) << "coordinates are cut";
  EXPECT_EQ(obstacle_surface(raw, obstacle(Extract::edges), 2).edges.size(), 5u);
  EXPECT_THAT(message_of([&] { obstacle_surface(five_tetrahedra(), obstacle(), 2); }),
              HasSubstr("closed surface"));
}

TEST(Obstacle, TransformationActsOnTheCutCoordinates) {
  auto raw = two_triangles();
  auto spec = obstacle();
  spec.transformation.dimensions = Vector3d(4, 0.5, 0);
  spec.transformation.translation = {0, -1, 7};
  const auto surface = obstacle_surface(raw, spec, 2);
  EXPECT_EQ(surface.vertices[2], Vector3d(4, -0.5, 0));
}

TEST(Obstacle, RefinementSplitsEdges) {
  RawMesh raw;
  raw.vertices = {{0, 0, 0}, {4, 0, 0}};
  raw.edges = {{0, 1}};
  auto spec = obstacle();
  spec.n_refs = 2;
  const auto surface = obstacle_surface(raw, spec, 2);
  EXPECT_EQ(surface.vertices.size(), 5u);
  EXPECT_THAT(surface.edges, ElementsAre(Edge{0, 3}, Edge{2, 4}, Edge{3, 2}, Edge{4, 1}));
  EXPECT_EQ(surface.vertices[3], Vector3d(1, 0, 0));
  EXPECT_THAT(message_of([&] { obstacle_surface(two_triangles(), spec, 3); }),
              HasSubstr("n_refs of an obstacle"));
  EXPECT_EQ(obstacle_surface(two_triangles(), spec, 2).edges.size(), 16u);
  spec.n_refs = 40;
  EXPECT_THAT(message_of([&] { obstacle_surface(raw, spec, 2); }),
              HasSubstr("n_refs 40 makes about 1.1e+12 cells"));
}

TEST(Obstacle, Copies) {
  auto raw = two_triangles();
  raw.vertices.push_back({0.5, 0.5, 0});
  raw.points = {4};
  auto spec = obstacle();
  spec.array = ArrayCopies{{1, 2, 2}, 2, true};
  const auto surface = obstacle_surface(raw, spec, 3);
  EXPECT_EQ(surface.vertices.size(), 20u);
  EXPECT_EQ(surface.triangles[7], (std::array<std::int32_t, 3>{15, 17, 18}));
  EXPECT_THAT(surface.points, ElementsAre(4, 9, 14, 19));
  EXPECT_EQ(surface.vertices[15], Vector3d(0, 2, 0)) << "the flat extent is zero";
}

TEST(Obstacle, Errors) {
  RawMesh nothing;
  nothing.vertices.resize(3, Vector3d::Zero());
  EXPECT_THAT(message_of([&] { obstacle_surface(nothing, obstacle(), 3); }),
              HasSubstr("/geometry/1: the obstacle has no"));
  auto raw = two_triangles();
  raw.triangles[1] = {0, 2, 2};
  EXPECT_THAT(message_of([&] { obstacle_surface(raw, obstacle(), 3); }),
              HasSubstr("triangle 1 (counted from 0) uses vertex 2 twice"));
  auto spec = obstacle();
  spec.transformation.scale.setConstant(1e308);
  spec.transformation.translation.setConstant(1e308);
  spec.transformation.translation *= 2;
  EXPECT_THAT(message_of([&] { obstacle_surface(two_triangles(), spec, 3); }), HasSubstr("not finite"));
}

} // namespace
} // namespace recoil::mesh
