#include <set>

#include "mesh_input/support.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::mesh {
namespace {

using Eigen::Vector3d;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// What select_facets, select_cells or select_vertices give; a selection of nothing becomes an error for its
/// message.
template <class Select, class... Arguments>
auto select_all(const Select& select, const Arguments&... arguments) {
  std::vector<EmptySelection> empty;
  auto ids = select(arguments..., empty);
  if (!empty.empty()) throw InputError(empty.front().where, empty.front().message);
  return ids;
}

/// A box [-1, 1] x [-0.5, 0.5] x [-2, 2] of 2 x 2 x 4 cubes, 16 + 16 + 8 facets per pair of sides.
struct Fixture {
  BodyMesh mesh = make();
  Boundary boundary = find_boundary(mesh, "");
  Eigen::AlignedBox3d box = bounding_box(mesh.vertices);

  static BodyMesh make() {
    Generator g;
    g.size = {2, 1, 4};
    g.divisions = {2, 2, 4};
    return body_mesh(generate(g, ""), "");
  }
  std::int64_t facets_with(const std::vector<Selection>& selections, std::int32_t id) const {
    std::int64_t count = 0;
    for (const auto& cell : select_all(select_facets, mesh, boundary, selections, box))
      count += std::count(cell.begin(), cell.end(), id);
    return count;
  }
  std::int64_t cells_with(const std::vector<Selection>& selections, std::int32_t id) const {
    const auto ids = select_all(select_cells, mesh, selections, box);
    return std::count(ids.begin(), ids.end(), id);
  }
  std::int64_t vertices_with(const std::vector<Selection>& selections, std::int32_t id) const {
    const auto ids = select_all(select_vertices, mesh, boundary, selections, box);
    return std::count(ids.begin(), ids.end(), id);
  }
};

Selection select(int id, SelectionShape shape, bool relative = false, bool boundary_only = true) {
  return {id, relative, boundary_only, std::move(shape), "/geometry/0/surface_selection/0"};
}

TEST(Select, NothingSelected) {
  const Fixture f;
  EXPECT_EQ(f.facets_with({}, unselected_facet), static_cast<std::int64_t>(f.boundary.facets.size()));
  EXPECT_EQ(f.facets_with({}, interior_facet), 4 * 96 - 80);
  EXPECT_EQ(f.cells_with({}, 0), 96);
  EXPECT_EQ(f.vertices_with({}, 0), 45);
}

TEST(Select, FacetsByEveryShape) {
  const Fixture f;
  EXPECT_EQ(f.facets_with({select(1, AxisSelection{1, 1})}, 1), 16);
  EXPECT_EQ(f.facets_with({select(1, AxisSelection{-3, -2})}, 1), 8);
  EXPECT_EQ(f.facets_with({select(1, AxisSelection{2, 1 - 1e-6}, true)}, 1), 16);
  EXPECT_EQ(f.facets_with({select(1, AxisSelection{-1, 1})}, 1), 80);
  EXPECT_EQ(f.facets_with({select(1, BoxSelection{{-1, -1, -2}, {1, 1, -2}})}, 1), 8)
      << "comparisons are inclusive";
  EXPECT_EQ(f.facets_with({select(1, BoxSelection{{0, 0, 0.999}, {1, 1, 1}}, true)}, 1), 8);
  EXPECT_EQ(f.facets_with({select(1, SphereSelection{{0, 0, 2}, 0.6})}, 1), 4);
  EXPECT_EQ(f.facets_with({select(1, SphereSelection{{0.5, 0.5, 1}, 0.6 / std::sqrt(21.0)}, true)}, 1), 4);
  EXPECT_EQ(f.facets_with({select(1, CylinderSelection{{0, 0, 1.5}, {0, 0, 2.5}, 0.59})}, 1), 4);
  EXPECT_EQ(
      f.facets_with(
          {select(1, CylinderSelection{{0.5, 0.5, 0}, {0.5, 0.5, 1}, 0.59 / std::sqrt(21.0)}, true)}, 1),
      8);
  EXPECT_EQ(f.facets_with({select(1, PlaneSelection{{1, 0, 0}, {2, 0, 0}})}, 1), 16);
  EXPECT_EQ(f.facets_with({select(1, PlaneSelection{{0.5, 0.5, 0.99}, {0, 0, 1}}, true)}, 1), 8);
  EXPECT_EQ(f.facets_with({select(4, EverythingSelection{})}, 4), 80);
  EXPECT_EQ(f.facets_with({select(0, EverythingSelection{})}, 0), 80);
}

TEST(Select, SidesOfTheBox) {
  const Fixture f;
  const std::vector<Selection> sides{select(0, ThresholdSelection{1e-6, 10})};
  const std::int64_t expected[] = {16, 16, 16, 16, 8, 8, 0};
  for (int side = 1; side <= 7; ++side)
    EXPECT_EQ(f.facets_with(sides, 10 + side), expected[side - 1]) << side;
  EXPECT_EQ(f.facets_with({select(0, ThresholdSelection{0, 0})}, 7), 80) << "the threshold is strict";
}

TEST(Select, RoundingDoesNotLoseFacetsOnAPlane) {
  Fixture f;
  Transformation t;
  t.rotation = {0, 0, 90};
  transform_vertices(affine_map(t, f.box, 3, ""), f.mesh.vertices);
  f.box = bounding_box(f.mesh.vertices);
  EXPECT_EQ(f.facets_with({select(1, AxisSelection{1, 0.5})}, 1), 16);
  EXPECT_EQ(f.facets_with({select(1, AxisSelection{1, 0.5 + 0.9e-9})}, 1), 16);
  EXPECT_THAT(message_of([&] {
                f.facets_with({select(1, AxisSelection{1, 0.5 + 1e-8})}, 1);
              }),
              HasSubstr("selects no"));
}

TEST(Select, FirstMatchWins) {
  const Fixture f;
  const std::vector<Selection> both{select(1, AxisSelection{1, 1}),
                                    select(2, PlaneSelection{{0, 0, 0}, {1, 0, 0}}),
                                    select(3, EverythingSelection{})};
  EXPECT_EQ(f.facets_with(both, 1), 16);
  EXPECT_EQ(f.facets_with(both, 2), 8 + 8 + 4 + 4);
  EXPECT_EQ(f.facets_with(both, 1) + f.facets_with(both, 2) + f.facets_with(both, 3), 80);
}

TEST(Select, EntriesHiddenByEarlierOnesAreNotEmpty) {
  const Fixture f;
  EXPECT_EQ(f.facets_with({select(1, EverythingSelection{}), select(2, AxisSelection{1, 1})}, 2), 0);
}

TEST(Select, CellsKeepTheirTagUnlessSelected) {
  Fixture f;
  std::fill(f.mesh.tags.begin(), f.mesh.tags.end(), 7);
  EXPECT_EQ(f.cells_with({}, 7), 96);
  EXPECT_EQ(f.cells_with({select(2, AxisSelection{3, 0})}, 2), 48);
  EXPECT_EQ(f.cells_with({select(2, AxisSelection{3, 0})}, 7), 48);
  EXPECT_EQ(f.cells_with({select(0, IdOffsetSelection{10})}, 17), 96);
  EXPECT_EQ(f.cells_with({select(3, EverythingSelection{})}, 3), 96);
}

TEST(Select, VerticesOfTheBoundaryOrAll) {
  Fixture f;
  // the middle axis of the box has three inner vertices
  const BoxSelection middle{{-0.1, -0.1, -1.1}, {0.1, 0.1, 1.1}};
  EXPECT_EQ(f.vertices_with({select(5, middle, false, false)}, 5), 3);
  EXPECT_THAT(message_of([&] { f.vertices_with({select(5, middle)}, 5); }),
              HasSubstr("selects no boundary vertex"));
  EXPECT_EQ(f.vertices_with({select(5, EverythingSelection{})}, 5), 42);
  EXPECT_EQ(f.vertices_with({select(5, AxisSelection{-1, -1})}, 5), 15);
  f.mesh.vertices.emplace_back(0, 0, 0);
  EXPECT_EQ(f.vertices_with({select(5, EverythingSelection{}, false, false)}, 5), 45) << "of no cell";
}

TEST(Select, Files) {
  const Fixture f;
  const recoil::testing::TemporaryFolder folder;
  const auto write = [&](const std::string& text) {
    return FileSelection{write_file(folder / "ids.txt", text)};
  };
  const auto& facet = f.boundary.facets[5];
  const auto v = facet_vertices(f.mesh, facet);
  const auto row = std::to_string(v[2]) + " " + std::to_string(v[0]) + "  " + std::to_string(v[1]);
  const std::vector<Selection> rows{select(0, write("# id v v v\n\n9 " + row + " # one facet\n")),
                                    select(2, EverythingSelection{})};
  EXPECT_EQ(f.facets_with(rows, 9), 1);
  EXPECT_EQ(f.facets_with(rows, 2), 79);
  EXPECT_EQ(select_all(select_facets, f.mesh, f.boundary, rows,
                       f.box)[static_cast<std::size_t>(facet.cell)][static_cast<std::size_t>(facet.local)],
            9);

  std::string per_facet;
  for (std::int64_t i = 0; i < f.boundary.num_all_facets; ++i)
    per_facet += std::to_string(i == facet.number ? 8 : 1) + "\n";
  EXPECT_EQ(f.facets_with({select(0, write(per_facet))}, 8), 1);
  EXPECT_EQ(f.facets_with({select(0, write(per_facet))}, 1), 79);

  std::string per_cell;
  for (int i = 0; i < 96; ++i) per_cell += std::to_string(i % 3) + "\n";
  EXPECT_EQ(f.cells_with({select(0, write(per_cell))}, 2), 32);
  EXPECT_EQ(f.vertices_with({select(0, write("4 0\n4 44"))}, 4), 2);

  const auto error = [&](const std::string& text) {
    return message_of([&] { f.cells_with({select(0, write(text))}, 0); });
  };
  EXPECT_THAT(error("1\n2\n"),
              AllOf(HasSubstr("/geometry/0/surface_selection/0"), HasSubstr("2 ids"), HasSubstr("needs 96")));
  EXPECT_THAT(error("1\n2 3\n"), AllOf(HasSubstr("ids.txt:2"), HasSubstr("row of 2")));
  EXPECT_THAT(error("1 0 1 2 45\n"), HasSubstr("vertex 45, the geometry has 45"));
  EXPECT_THAT(error("1 0 1 2 -4\n"), HasSubstr("negative"));
  EXPECT_THAT(error("x\n"), HasSubstr("ids.txt:1"));
  EXPECT_THAT(error("# none\n"), HasSubstr("no ids"));
  EXPECT_THAT(error("1 0 1 2 44\n"), HasSubstr("selects no cell"));
  EXPECT_THAT(message_of([&] { f.cells_with({select(0, FileSelection{folder / "absent"})}, 0); }),
              HasSubstr("no such file"));
}

TEST(Select, InThePlane) {
  Generator g;
  g.shape = GeneratorShape::rectangle;
  g.size = {2, 2};
  g.divisions = {4, 4};
  const BodyMesh mesh = body_mesh(generate(g, ""), "");
  const auto boundary = find_boundary(mesh, "");
  const auto box = bounding_box(mesh.vertices);
  const auto count = [&](const Selection& selection, std::int32_t id) {
    std::int64_t n = 0;
    for (const auto& cell : select_all(select_facets, mesh, boundary, std::vector{selection}, box)) {
      EXPECT_EQ(cell[3], interior_facet);
      n += std::count(cell.begin(), cell.end(), id);
    }
    return n;
  };
  EXPECT_EQ(count(select(1, AxisSelection{-2, -1}), 1), 4);
  // z takes no part
  EXPECT_EQ(count(select(1, BoxSelection{{0.9, -1, 5}, {1.1, 1, 6}}), 1), 4);
  EXPECT_EQ(count(select(0, ThresholdSelection{1e-6, 0}), 4), 4);
  EXPECT_EQ(count(select(1, SphereSelection{{1, 1, 0}, 1}), 1), 4);
  EXPECT_THAT(message_of([&] {
                count(select(1, AxisSelection{3, 0}), 1);
              }),
              HasSubstr("axis 3 does not exist in 2D"));
  const recoil::testing::TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { count(select(0, FileSelection{write_file(folder / "f", "1\n")}), 1); }),
              HasSubstr("id v0 v1"));
  EXPECT_EQ(count(select(0, FileSelection{write_file(folder / "f", "6 1 0\n")}), 6), 1);
}

TEST(Select, EmptySelectionsTellWhatWasAskedAndWhatIsThere) {
  const Fixture f;
  const auto error = [&](SelectionShape shape, bool relative = false) {
    return message_of([&] { f.facets_with({select(1, std::move(shape), relative)}, 1); });
  };
  EXPECT_THAT(error(AxisSelection{1, 1.5}),
              AllOf(HasSubstr("/geometry/0/surface_selection/0: x >= 1.5 selects no boundary facet"),
                    HasSubstr("(-1, -0.5, -2) to (1, 0.5, 2)")));
  EXPECT_THAT(error(BoxSelection{{2, 2, 2}, {3, 3, 3}}), HasSubstr("box (2, 2, 2) to (3, 3, 3)"));
  EXPECT_THAT(error(BoxSelection{{2, 2, 2}, {3, 3, 3}}, true),
              AllOf(HasSubstr("box (3, 1.5, 6)"), HasSubstr("relative")));
  EXPECT_THAT(error(SphereSelection{{9, 9, 9}, 1}), HasSubstr("sphere around (9, 9, 9) of radius 1"));
  EXPECT_THAT(error(CylinderSelection{{9, 9, 9}, {9, 9, 8}, 1}), HasSubstr("cylinder from (9, 9, 9)"));
  EXPECT_THAT(error(PlaneSelection{{9, 9, 9}, {1, 0, 0}}), HasSubstr("half-space beyond (9, 9, 9)"));
}

} // namespace
} // namespace recoil::mesh
