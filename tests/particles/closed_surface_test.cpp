#include <numbers>

#include "particles/support.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::particles {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<Eigen::Vector3d> corners_of_tetrahedron() { return {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; }
std::vector<std::array<std::int32_t, 3>> faces_of_tetrahedron() {
  return {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
}

TEST(ClosedSurface, KnowsInsideOfARotatedL) {
  const LShape shape{some_rotation(), {0.3, -2, 5}};
  const ClosedSurface surface = shape.surface();
  EXPECT_NEAR(surface.volume(), 3, 1e-12);
  std::mt19937 generator(1);
  int inside = 0;
  for (int n = 0; n < 5000; ++n) {
    const Eigen::Vector3d point = random_point(generator, surface.box());
    const double expected = shape.signed_distance(point), found = surface.signed_distance(point);
    EXPECT_EQ(surface.contains(point), expected < 0);
    if (expected >= 0) continue;
    ++inside;
    EXPECT_NEAR(found, expected, 1e-12);
    EXPECT_TRUE(surface.is_closer(point, -expected * (1 + 1e-9)));
    EXPECT_FALSE(surface.is_closer(point, -expected * (1 - 1e-9)));
    EXPECT_FALSE(surface.nearest(point, -expected * (1 - 1e-9)).has_value());
    EXPECT_NEAR((surface.nearest(point)->point - point).norm(), -expected, 1e-12);
  }
  EXPECT_GT(inside, 500);
}

TEST(ClosedSurface, FindsTheNearestOfManyTriangles) {
  const Eigen::Vector3d size(1, 1.4, 0.7);
  const ClosedSurface surface = box_surface(size, 7);
  std::mt19937 generator(2);
  for (int n = 0; n < 3000; ++n) {
    const Eigen::Vector3d point = random_point(generator, {-size, size});
    const Eigen::Vector3d beyond = point.cwiseAbs() - size / 2;
    const double expected = beyond.maxCoeff() < 0 ? beyond.maxCoeff() : beyond.cwiseMax(0).norm();
    EXPECT_NEAR(surface.signed_distance(point), expected, 1e-14);
    EXPECT_NEAR((surface.nearest(point)->point - point).norm(), std::abs(expected), 1e-14);
  }
}

// Rays along x then meet edges and vertices, and run within triangles.
TEST(ClosedSurface, KnowsInsideForRaysThroughVerticesAndEdges) {
  const int n = 8;
  const ClosedSurface surface = box_surface({1, 1, 1}, n);
  for (int i = -2; i <= n + 2; ++i)
    for (int j = -2; j <= 2 * n + 2; ++j)
      for (int k = -2; k <= 2 * n + 2; ++k) {
        const Eigen::Vector3d point(-0.5 + (i + 0.25) / n, -0.5 + 0.5 * j / n, -0.5 + 0.5 * k / n);
        const double beyond = (point.cwiseAbs().array() - 0.5).maxCoeff();
        if (beyond == 0) continue; // on the surface
        EXPECT_EQ(surface.contains(point), beyond < 0) << point.transpose();
      }
}

TEST(ClosedSurface, TurnsNormalsThatAllPointInwards) {
  auto faces = faces_of_tetrahedron();
  for (auto& face : faces) std::swap(face[0], face[1]);
  const ClosedSurface surface("drop", corners_of_tetrahedron(), faces);
  EXPECT_NEAR(surface.volume(), 1.0 / 6, 1e-15);
  EXPECT_TRUE(surface.contains({0.2, 0.2, 0.2}));
  EXPECT_FALSE(surface.contains({0.4, 0.4, 0.4}));
}

TEST(ClosedSurface, LeavesCavitiesOut) {
  auto vertices = corners_of_tetrahedron();
  auto faces = faces_of_tetrahedron();
  for (auto face : faces_of_tetrahedron()) faces.push_back({face[0] + 4, face[2] + 4, face[1] + 4});
  for (const Eigen::Vector3d& corner : corners_of_tetrahedron())
    vertices.push_back(0.5 * corner + Eigen::Vector3d(0.1, 0.1, 0.1));
  const ClosedSurface surface("shell", vertices, faces);
  EXPECT_NEAR(surface.volume(), (1 - 0.125) / 6, 1e-15);
  EXPECT_FALSE(surface.contains({0.15, 0.15, 0.15}));
  EXPECT_TRUE(surface.contains({0.05, 0.05, 0.05}));
}

TEST(ClosedSurface, ReadsSurfacesOfFiles) {
  const recoil::testing::TemporaryFolder folder;
  mesh::GeometrySpec spec;
  spec.name = "ramp";
  spec.is_obstacle = true;
  spec.mesh = write_file(folder / "ramp.obj", "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\n"
                                              "f 2 3 4\nf 1 4 3\nf 1 2 4\nf 1 3 2\n");
  const ClosedSurface surface(mesh::obstacle_surface(mesh::read_mesh(spec.mesh), spec, 3));
  EXPECT_EQ(surface.name(), "ramp");
  EXPECT_NEAR(surface.volume(), 8.0 / 6, 1e-14);
}

TEST(ClosedSurface, SaysWhereItIsOpen) {
  auto faces = faces_of_tetrahedron();
  faces.pop_back();
  EXPECT_THAT(
      message_of([&] { ClosedSurface("drop", corners_of_tetrahedron(), faces); }),
      AllOf(HasSubstr("drop: the surface is not closed: 3 edges belong to an odd number of triangles"),
            HasSubstr("vertex 0 (0, 0, 0) to vertex 1 (1, 0, 0)"), HasSubstr("close holes")));
}

TEST(ClosedSurface, SaysWhichTrianglesAreTurned) {
  auto faces = faces_of_tetrahedron();
  std::swap(faces[3][0], faces[3][1]);
  EXPECT_THAT(message_of([&] { ClosedSurface("drop", corners_of_tetrahedron(), faces); }),
              AllOf(HasSubstr("the triangles at 3 edges are not oriented alike"), HasSubstr("normals")));
}

TEST(ClosedSurface, RefusesWhatIsNoSolid) {
  EXPECT_THAT(message_of([] { ClosedSurface("drop", corners_of_tetrahedron(), {}); }),
              HasSubstr("no triangles"));
  EXPECT_THAT(message_of([] {
                ClosedSurface("drop", corners_of_tetrahedron(), {{0, 1, 2}, {0, 2, 1}});
              }),
              HasSubstr("no volume"));
  EXPECT_THAT(message_of([] {
                ClosedSurface("drop", corners_of_tetrahedron(), {{0, 1, 9}});
              }),
              HasSubstr("triangle 0 has a corner that does not exist"));
}

TEST(ClosedSurface, IsTheBoundaryOfOneBody) {
  std::vector<mesh::GeometrySpec> specs(2);
  for (int body = 0; body < 2; ++body) {
    auto& spec = specs[static_cast<std::size_t>(body)];
    spec.name = "b" + std::to_string(body);
    spec.generator = mesh::Generator{};
    spec.generator->size.assign(3, 1.0 + body);
    spec.transformation.translation = {3.0 * body, 0, 0};
  }
  const mesh::SimplexMesh mesh = mesh::assemble_geometry(specs, 3).deformable;
  const ClosedSurface second = boundary_of_body(mesh, 1);
  EXPECT_EQ(second.name(), "b1");
  EXPECT_NEAR(second.volume(), 8, 1e-12);
  EXPECT_EQ(second.box().min().x(), 2);
}

TEST(ClosedSurface, HasTheVolumeOfABall) {
  EXPECT_NEAR(ball_surface(1, 8).volume() / (4 * std::numbers::pi / 3), 1, 0.02);
}

} // namespace

} // namespace recoil::particles
