#include <numbers>

#include "mesh_input/support.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Generator generator(GeneratorShape shape, std::vector<int> divisions) {
  Generator g;
  g.shape = shape;
  g.divisions = std::move(divisions);
  g.size = dimension(shape) == 2 ? std::vector<double>{2, 1} : std::vector<double>{2, 1, 3};
  g.radius = 2;
  g.height = 3;
  return g;
}

double min_quality(const BodyMesh& mesh) {
  double quality = 1;
  for (const auto& cell : mesh.cells) {
    std::array<Eigen::Vector3d, 4> corners;
    for (int i = 0; i <= mesh.dim; ++i)
      corners[static_cast<std::size_t>(i)] =
          mesh.vertices[static_cast<std::size_t>(cell[static_cast<std::size_t>(i)])];
    quality = std::min(quality, scaled_jacobian(corners, mesh.dim));
  }
  return quality;
}

/// Conforming, oriented, without unused vertices, of one piece: Euler's formula for the boundary of a ball or
/// disk.
BodyMesh check_topology(const Generator& g) {
  const RawMesh raw = generate(g, "/here");
  BodyMesh mesh = body_mesh(RawMesh(raw), "");
  const auto cells = mesh.cells;
  orient(mesh, "");
  EXPECT_EQ(cells, mesh.cells) << "cells are generated positively oriented";
  const auto boundary = find_boundary(mesh, "");
  std::vector<char> used(mesh.vertices.size()), outside(mesh.vertices.size());
  for (const auto& cell : mesh.cells)
    for (int i = 0; i <= mesh.dim; ++i) used[static_cast<std::size_t>(cell[static_cast<std::size_t>(i)])] = 1;
  for (const auto& facet : boundary.facets)
    for (const auto v : facet_vertices(mesh, facet))
      if (v >= 0) outside[static_cast<std::size_t>(v)] = 1;
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0);
  const auto f = static_cast<std::int64_t>(boundary.facets.size());
  const auto v = std::count(outside.begin(), outside.end(), 1);
  if (mesh.dim == 2)
    EXPECT_EQ(v, f);
  else
    EXPECT_EQ(v - f / 2, 2);
  return mesh;
}

TEST(Generate, BoxAndPlate) {
  for (const auto shape : {GeneratorShape::box, GeneratorShape::plate}) {
    const auto mesh = check_topology(generator(shape, {4, 2, 6}));
    EXPECT_EQ(mesh.cells.size(), 6u * 48);
    EXPECT_EQ(mesh.vertices.size(), 5u * 3 * 7);
    EXPECT_NEAR(volume_of(mesh), 6, 1e-13);
    EXPECT_NEAR(min_quality(mesh), 1 / std::numbers::sqrt3, 1e-12);
    const auto box = bounding_box(mesh.vertices);
    EXPECT_EQ(box.min(), Eigen::Vector3d(-1, -0.5, -1.5));
    EXPECT_EQ(box.max(), Eigen::Vector3d(1, 0.5, 1.5));
  }
  EXPECT_EQ(check_topology(generator(GeneratorShape::box, {2})).cells.size(), 48u);
  EXPECT_EQ(check_topology(generator(GeneratorShape::box, {})).cells.size(), 6u);
}

TEST(Generate, Rectangle) {
  const auto mesh = check_topology(generator(GeneratorShape::rectangle, {4, 2}));
  EXPECT_EQ(mesh.cells.size(), 16u);
  EXPECT_NEAR(volume_of(mesh), 2, 1e-14);
  EXPECT_NEAR(min_quality(mesh), std::sqrt(2.0 / 3), 1e-12);
}

TEST(Generate, Disk) {
  for (const int n : {1, 2, 5, 16}) {
    const auto mesh = check_topology(generator(GeneratorShape::disk, {n}));
    EXPECT_EQ(mesh.cells.size(), 6u * static_cast<unsigned>(n * n));
    EXPECT_GT(min_quality(mesh), 0.8);
    // an inscribed polygon of 6 n sides
    EXPECT_NEAR(volume_of(mesh), 12 * n * std::sin(2 * std::numbers::pi / (6 * n)), 1e-12);
  }
}

TEST(Generate, Cylinder) {
  for (const int n : {1, 2, 5, 8}) {
    const auto mesh = check_topology(generator(GeneratorShape::cylinder, {n, 2 * n}));
    EXPECT_EQ(mesh.cells.size(), 36u * static_cast<unsigned>(n * n * n));
    EXPECT_GT(min_quality(mesh), 0.35);
    EXPECT_NEAR(volume_of(mesh), 36 * n * std::sin(2 * std::numbers::pi / (6 * n)), 1e-11);
  }
}

TEST(Generate, Ball) {
  double last_error = 1e9;
  for (const int n : {1, 2, 4, 8}) {
    const auto mesh = check_topology(generator(GeneratorShape::ball, {n}));
    EXPECT_EQ(mesh.cells.size(), 48u * static_cast<unsigned>(n * n * n));
    EXPECT_GT(min_quality(mesh), 0.3);
    const double error = 4. / 3 * std::numbers::pi * 8 - volume_of(mesh);
    EXPECT_GT(error, 0);
    EXPECT_LT(error, last_error / 2.5) << "the polyhedron tends to the ball with the square of n";
    last_error = error;
    for (const auto& facet : find_boundary(mesh, "").facets)
      for (const auto v : facet_vertices(mesh, facet))
        EXPECT_NEAR(mesh.vertices[static_cast<std::size_t>(v)].norm(), 2, 1e-14);
  }
}

TEST(Generate, Errors) {
  const auto error = [](Generator g) { return message_of([&] { generate(g, "/geometry/0/generator"); }); };
  auto g = generator(GeneratorShape::box, {2, 2, 2});
  g.size = {1, -1, 1};
  EXPECT_THAT(error(g), HasSubstr("/geometry/0/generator: generator box: size is -1"));
  g.size = {1, 1};
  EXPECT_THAT(error(g), HasSubstr("size has 2 numbers, needs 3"));
  EXPECT_THAT(error(generator(GeneratorShape::box, {2, 0, 2})), HasSubstr("at least 1"));
  EXPECT_THAT(error(generator(GeneratorShape::box, {2, 2})), HasSubstr("divisions has 2 numbers"));
  EXPECT_THAT(error(generator(GeneratorShape::cylinder, {2})), HasSubstr("needs 2"));
  EXPECT_THAT(error(generator(GeneratorShape::box, {1000, 1000, 1000})),
              AllOf(HasSubstr("divisions [1000, 1000, 1000] makes about 6e+09 cells"), HasSubstr("32-bit"),
                    HasSubstr("TB of memory"), HasSubstr("take fewer divisions")));
  EXPECT_THAT(error(generator(GeneratorShape::ball, {2000000000})), HasSubstr("32-bit"));
  g = generator(GeneratorShape::ball, {2});
  g.radius = 0;
  EXPECT_THAT(error(g), HasSubstr("radius is 0"));
  g = generator(GeneratorShape::cylinder, {2, 2});
  g.height = std::nan("");
  EXPECT_THAT(error(g), HasSubstr("height is"));
}

} // namespace
} // namespace recoil::mesh
