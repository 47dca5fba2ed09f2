#include "mesh_input/support.hpp"

namespace recoil::mesh {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Boundary, OfFiveTetrahedra) {
  BodyMesh mesh = body_mesh(five_tetrahedra(), "");
  orient(mesh, "");
  const auto boundary = find_boundary(mesh, "");
  EXPECT_EQ(boundary.facets.size(), 12u);
  EXPECT_EQ(boundary.num_all_facets, 16);
  Eigen::Vector3d total = Eigen::Vector3d::Zero();
  double flux = 0;
  for (const auto& facet : boundary.facets) {
    EXPECT_LT(facet.cell, 4) << "the inner cell has no boundary";
    const auto v = facet_vertices(mesh, facet);
    const auto p = [&](std::size_t i) { return mesh.vertices[static_cast<std::size_t>(v[i])]; };
    const Eigen::Vector3d area = 0.5 * (p(1) - p(0)).cross(p(2) - p(0));
    total += area;
    flux += area.dot((p(0) + p(1) + p(2)) / 3);
  }
  EXPECT_LT(total.norm(), 1e-15);
  EXPECT_NEAR(flux, 3, 1e-14) << "normals point outwards: the flux of x is three times the volume";
}

TEST(Boundary, OfTwoTriangles) {
  const BodyMesh mesh = body_mesh(two_triangles(), "");
  const auto boundary = find_boundary(mesh, "");
  EXPECT_EQ(boundary.facets.size(), 4u);
  EXPECT_EQ(boundary.num_all_facets, 5);
  double flux = 0;
  for (const auto& facet : boundary.facets) {
    const auto v = facet_vertices(mesh, facet);
    EXPECT_EQ(v[2], -1);
    const Eigen::Vector3d a = mesh.vertices[static_cast<std::size_t>(v[0])],
                          b = mesh.vertices[static_cast<std::size_t>(v[1])];
    flux += a.x() * b.y() - a.y() * b.x();
  }
  EXPECT_NEAR(flux, 2, 1e-15);
}

TEST(Boundary, FacetsAreNumberedLexicographically) {
  BodyMesh mesh = body_mesh(five_tetrahedra(), "");
  std::vector<std::pair<std::array<std::int32_t, 3>, std::int32_t>> numbered;
  for (const auto& facet : find_boundary(mesh, "").facets) {
    auto v = facet_vertices(mesh, facet);
    std::sort(v.begin(), v.end());
    numbered.emplace_back(v, facet.number);
  }
  std::sort(numbered.begin(), numbered.end());
  EXPECT_EQ(numbered.front(), (std::pair(std::array{0, 1, 2}, 0)));
  for (std::size_t i = 1; i < numbered.size(); ++i) EXPECT_GT(numbered[i].second, numbered[i - 1].second);
  // 247 is interior and comes before 267, 356 does not exist
  EXPECT_EQ(numbered.back().second, 15);
}

TEST(Boundary, WhatIsNoManifoldIsRefused) {
  BodyMesh three;
  three.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, -1}};
  three.cells = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}};
  three.cell_source = {0, 1, 2};
  EXPECT_THAT(message_of([&] { find_boundary(three, "/g (a.msh)"); }),
              AllOf(HasSubstr("/g (a.msh)"), HasSubstr("more than two cells"), HasSubstr("cells 0, 1, 2"),
                    HasSubstr("(1, 0, 0)")));
  three.cells = {{0, 1, 2, 3}, {1, 2, 0, 3}};
  EXPECT_THAT(message_of([&] { find_boundary(three, ""); }), HasSubstr("same vertices (cells 0, 1"));
  three.cells = {{0, 1, 2, 3}, {0, 1, 2, 4}};
  EXPECT_THAT(message_of([&] { find_boundary(three, ""); }),
              HasSubstr("two cells lie on one side of their common facet (cells 0, 1"));
}

TEST(Orient, TurnsInvertedCells) {
  BodyMesh mesh = body_mesh(five_tetrahedra(), "");
  std::swap(mesh.cells[2][0], mesh.cells[2][1]);
  orient(mesh, "");
  EXPECT_NEAR(volume_of(mesh), 1, 1e-15);
  BodyMesh flat = body_mesh(two_triangles(), "");
  std::swap(flat.cells[1][0], flat.cells[1][1]);
  orient(flat, "");
  EXPECT_NEAR(volume_of(flat), 1, 1e-15);
}

TEST(Orient, CellsWithoutVolumeAreNamed) {
  auto raw = five_tetrahedra();
  raw.tetrahedra[3] = {0, 1, 2, 3};
  BodyMesh mesh = body_mesh(std::move(raw), "");
  EXPECT_THAT(
      message_of([&] { orient(mesh, "/g (a.msh)"); }),
      AllOf(HasSubstr("/g (a.msh): tetrahedron 3"), HasSubstr("has no volume"), HasSubstr("3 at (1, 1, 0)")));
  mesh.cells[3] = {0, 1, 2, 2};
  EXPECT_THAT(message_of([&] { orient(mesh, ""); }), HasSubstr("uses a vertex twice"));
  mesh.cells[3] = {7, 4, 6, 2};
  mesh.vertices[7].x() = std::nan("");
  EXPECT_THAT(message_of([&] { orient(mesh, ""); }), HasSubstr("not finite"));
}

TEST(Orient, FlatButSoundCellsPass) {
  auto raw = five_tetrahedra();
  for (auto& p : raw.vertices) p.z() *= 1e-9;
  BodyMesh mesh = body_mesh(std::move(raw), "");
  orient(mesh, "");
  EXPECT_NEAR(volume_of(mesh), 1e-9, 1e-22);
}

TEST(BodyMesh, WhatIsNoBodyIsRefused) {
  auto surface = two_triangles();
  surface.vertices[2].z() = 1;
  EXPECT_THAT(message_of([&] { body_mesh(std::move(surface), "/g"); }),
              AllOf(HasSubstr("z runs from 0 to 1"), HasSubstr("obstacle")));
  auto lifted = two_triangles();
  for (auto& p : lifted.vertices) p.z() = 5;
  EXPECT_EQ(body_mesh(std::move(lifted), "").vertices[0].z(), 0);
  RawMesh line;
  line.vertices.resize(2);
  line.edges = {{0, 1}};
  EXPECT_THAT(message_of([&] { body_mesh(std::move(line), "/g"); }), HasSubstr("no triangles or tetrahedra"));
}

} // namespace
} // namespace recoil::mesh
