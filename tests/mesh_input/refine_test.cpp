#include <algorithm>

#include "mesh_input/support.hpp"

namespace recoil::mesh {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Cell = std::array<std::int32_t, 4>;

std::vector<Cell> sorted_cells(const BodyMesh& mesh) {
  auto cells = mesh.cells;
  for (auto& cell : cells) std::sort(cell.begin(), cell.begin() + mesh.dim + 1);
  std::sort(cells.begin(), cells.end());
  return cells;
}

TEST(Refine, TetrahedronByHand) {
  // vertices listed out of order: the rule sorts them
  BodyMesh mesh;
  mesh.vertices = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}};
  mesh.cells = {{3, 1, 0, 2}};
  mesh.tags = {7};
  mesh.cell_source = {4};
  refine(mesh, 1, "");
  ASSERT_EQ(mesh.vertices.size(), 10u);
  // 4..9 are the middles of 01, 02, 03, 12, 13, 23
  const std::vector<Eigen::Vector3d> middles{{1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                             {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
  EXPECT_TRUE(std::equal(middles.begin(), middles.end(), mesh.vertices.begin() + 4));
  EXPECT_THAT(sorted_cells(mesh),
              ElementsAre(Cell{0, 4, 5, 6}, Cell{1, 4, 7, 8}, Cell{2, 5, 7, 9}, Cell{3, 6, 8, 9},
                          Cell{4, 5, 6, 9}, Cell{4, 5, 7, 9}, Cell{4, 6, 8, 9}, Cell{4, 7, 8, 9}));
  EXPECT_EQ(mesh.tags, std::vector<std::int32_t>(8, 7));
  EXPECT_EQ(mesh.cell_source, std::vector<std::int64_t>(8, 4));
}

TEST(Refine, TrianglesByHand) {
  BodyMesh mesh = body_mesh(two_triangles(), "");
  refine(mesh, 1, "");
  // edges in lexicographic order: 01 02 03 12 23
  EXPECT_EQ(mesh.vertices[6], Eigen::Vector3d(0, 0.5, 0));
  EXPECT_THAT(sorted_cells(mesh),
              ElementsAre(Cell{0, 4, 5, -1}, Cell{0, 5, 6, -1}, Cell{1, 4, 7, -1}, Cell{2, 5, 7, -1},
                          Cell{2, 5, 8, -1}, Cell{3, 6, 8, -1}, Cell{4, 5, 7, -1}, Cell{5, 6, 8, -1}));
}

TEST(Refine, LevelsConformAndKeepTheVolume) {
  for (const int levels : {1, 2, 3}) {
    BodyMesh mesh = body_mesh(five_tetrahedra(), "");
    orient(mesh, "");
    refine(mesh, levels, "");
    orient(mesh, "");
    EXPECT_EQ(mesh.cells.size(), std::size_t{5} << (3 * levels));
    EXPECT_NEAR(volume_of(mesh), 1, 1e-13);
    EXPECT_EQ(find_boundary(mesh, "").facets.size(), std::size_t{12} << (2 * levels));
    EXPECT_EQ(mesh.cell_source.front(), 0);
    EXPECT_EQ(mesh.cell_source.back(), 4);
  }
  BodyMesh flat = body_mesh(two_triangles(), "");
  refine(flat, 4, "");
  orient(flat, "");
  EXPECT_EQ(flat.vertices.size(), 17u * 17);
  EXPECT_NEAR(volume_of(flat), 1, 1e-13);
}

TEST(Refine, EveryLevelSortsAgain) {
  // what two calls give is what one call with two levels gives
  BodyMesh once = body_mesh(five_tetrahedra(), ""), twice = once;
  refine(once, 2, "");
  refine(twice, 1, "");
  orient(twice, "");
  refine(twice, 1, "");
  EXPECT_EQ(once.cells, twice.cells);
  EXPECT_EQ(once.vertices.size(), twice.vertices.size());
}

TEST(Refine, UnusedVerticesKeepTheirNumbers) {
  BodyMesh mesh = body_mesh(two_triangles(), "");
  mesh.vertices.insert(mesh.vertices.begin(), Eigen::Vector3d(9, 9, 0));
  for (auto& cell : mesh.cells)
    for (int i = 0; i < 3; ++i) ++cell[static_cast<std::size_t>(i)];
  refine(mesh, 1, "");
  EXPECT_EQ(mesh.vertices.size(), 10u);
  EXPECT_EQ(mesh.vertices[0], Eigen::Vector3d(9, 9, 0));
}

TEST(Refine, Errors) {
  BodyMesh mesh = body_mesh(five_tetrahedra(), "");
  mesh.tags[3] = 5;
  EXPECT_THAT(message_of([&] { refine(mesh, 1, "/g"); }), HasSubstr("cell 3 has 5"));
  mesh.tags[3] = 0;
  EXPECT_THAT(message_of([&] { refine(mesh, -1, "/g"); }), HasSubstr("negative"));
  EXPECT_THAT(message_of([&] { refine(mesh, 12, "/g"); }),
              AllOf(HasSubstr("/g: n_refs 12 makes about 3.436e+11 cells and 5.727e+10 vertices"),
                    HasSubstr("of memory"), HasSubstr("take fewer levels")));
  EXPECT_EQ(mesh.cells.size(), 5u) << "refused before anything is made";
}

} // namespace
} // namespace recoil::mesh
