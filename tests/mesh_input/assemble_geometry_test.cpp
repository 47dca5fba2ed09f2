#include <functional>

#include "mesh_input/support.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"

namespace recoil::mesh {
namespace {

using Eigen::Vector3d;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string square_obj = "v 0 0\nv 1 0\nv 1 1\nv 0 1\nf 1 2 3\nf 1 3 4\n";

class Scene : public ::testing::Test {
protected:
  GeometrySpec file(const std::string& name, const std::string& content) {
    GeometrySpec spec;
    spec.name = name;
    spec.where = "/geometry/" + std::to_string(count_++);
    spec.mesh = write_file(folder_ / name, content);
    return spec;
  }
  GeometrySpec box(int n) {
    GeometrySpec spec;
    spec.name = "box";
    spec.where = "/geometry/" + std::to_string(count_++);
    spec.generator.emplace();
    spec.generator->size = {1, 1, 1};
    spec.generator->divisions = {n, n, n};
    return spec;
  }

  recoil::testing::TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(Scene, EntriesAreAppendedWithoutWelding) {
  auto a = file("a.obj", square_obj), b = a, wall = file("wall.obj", square_obj), c = a;
  b.name = "b";
  b.transformation.translation = {1, 0, 0};
  b.volume_selection = {{5, false, true, EverythingSelection{}, ""}};
  wall.is_obstacle = true;
  c.name = "c";
  const std::vector<GeometrySpec> specs{a, wall, b, c};
  MeshFiles files;
  EXPECT_EQ(geometry_dimension(specs, files), 2);
  const auto scene = assemble_geometry(specs, 2, files);
  const auto& mesh = scene.deformable;
  EXPECT_EQ(mesh.dim, 2);
  EXPECT_EQ(mesh.vertices.size(), 12u);
  EXPECT_EQ(mesh.vertices[4], Vector3d(1, 0, 0));
  EXPECT_EQ(mesh.cells[2], (std::array<std::int32_t, 4>{4, 5, 6, -1}));
  EXPECT_THAT(mesh.cell_body, ElementsAre(0, 0, 1, 1, 2, 2)) << "obstacles are not counted";
  EXPECT_THAT(mesh.body_names, ElementsAre("a.obj", "b", "c"));
  EXPECT_THAT(mesh.cell_volume_id, ElementsAre(0, 0, 5, 5, 0, 0));
  EXPECT_THAT(mesh.cell_source, ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(mesh.vertex_point_id, Each(0));
  EXPECT_EQ(mesh.vertex_point_id.size(), 12u);
  ASSERT_EQ(scene.obstacles.size(), 1u);
  EXPECT_EQ(scene.obstacles[0].edges.size(), 4u);
}

TEST_F(Scene, UnusedVerticesNeverBecomeUnknowns) {
  // vertex 0 and 3 are used by no face; they take part in the bounding box and in numbers of selection files
  auto spec = file("a.obj", "v -3 0\nv 0 0\nv 1 0\nv 9 9\nv 0 1\nf 2 3 5\n");
  spec.point_selection = {{6, false, true, FileSelection{write_file(folder_ / "ids", "6 4\n")}, ""}};
  spec.surface_selection = {{1, true, true, AxisSelection{-1, 0.25}, ""}};
  const auto mesh = assemble_geometry(std::vector{spec}, 2).deformable;
  ASSERT_EQ(mesh.vertices.size(), 3u);
  EXPECT_EQ(mesh.vertices[2], Vector3d(0, 1, 0));
  EXPECT_EQ(mesh.cells[0], (std::array<std::int32_t, 4>{0, 1, 2, -1}));
  EXPECT_THAT(mesh.vertex_point_id, ElementsAre(0, 0, 6));
  EXPECT_THAT(mesh.facet_ids[0], ElementsAre(unselected_facet, 1, unselected_facet, interior_facet))
      << "x <= -3 + 12 / 4 = 0 selects the edge opposite to vertex 1";
}

TEST_F(Scene, OrderOfOperations) {
  // normalised to [0, 1], scaled by 2, turned by 90 degrees: x in [-2, 0]; then refined, then selected
  auto spec = box(1);
  spec.generator->size = {4, 4, 4};
  spec.normalize_mesh = true;
  spec.transformation.scale.setConstant(2);
  spec.transformation.rotation = {0, 0, 90};
  spec.n_refs = 1;
  spec.surface_selection = {{1, true, true, AxisSelection{-1, 0}, "/s"},
                            {2, false, true, AxisSelection{1, 0}, "/s"}};
  spec.volume_selection = {{7, false, true, AxisSelection{1, -1.001}, "/v"}};
  spec.point_selection = {{9, false, true, SphereSelection{{-2, 0, 0}, 1e-6}, "/p"}};
  const auto mesh = assemble_geometry(std::vector{spec}, 3).deformable;
  EXPECT_EQ(mesh.cells.size(), 48u);
  std::int64_t ones = 0, twos = 0;
  for (const auto& ids : mesh.facet_ids) {
    ones += std::count(ids.begin(), ids.end(), 1);
    twos += std::count(ids.begin(), ids.end(), 2);
  }
  EXPECT_EQ(ones, 8);
  EXPECT_EQ(twos, 8);
  EXPECT_EQ(std::count(mesh.cell_volume_id.begin(), mesh.cell_volume_id.end(), 7), 28)
      << "24 cells on either side, 8 of them with their barycentre on the plane";
  EXPECT_EQ(std::count(mesh.vertex_point_id.begin(), mesh.vertex_point_id.end(), 9), 1);
  double volume = 0;
  for (const auto& cell : mesh.cells)
    volume += signed_volume(
        {mesh.vertices[static_cast<std::size_t>(cell[0])], mesh.vertices[static_cast<std::size_t>(cell[1])],
         mesh.vertices[static_cast<std::size_t>(cell[2])], mesh.vertices[static_cast<std::size_t>(cell[3])]},
        3);
  EXPECT_NEAR(volume, 8, 1e-13) << "positively oriented after all";
}

TEST_F(Scene, MirroredBodiesAreTurned) {
  auto spec = box(2);
  spec.transformation.scale = {-1, 1, 1};
  const auto report = body_quality(assemble_geometry(std::vector{spec}, 3).deformable);
  EXPECT_NEAR(report[0].volume, 1, 1e-14);
}

TEST_F(Scene, CopiesShareIdsAndBody) {
  auto spec = box(1);
  spec.transformation.scale.setConstant(0.25);
  spec.array = ArrayCopies{{2, 1, 3}, 1.5, true};
  spec.surface_selection = {{1, true, true, AxisSelection{-2, 0}, ""}};
  const auto mesh = assemble_geometry(std::vector{spec, box(2)}, 3).deformable;
  EXPECT_EQ(mesh.cells.size(), 6u * 6 + 48);
  EXPECT_EQ(mesh.vertices.size(), 6u * 8 + 27);
  EXPECT_NEAR((mesh.vertices[3 * 8] - mesh.vertices[0] - Vector3d(0.375, 0, 0)).norm(), 0, 1e-15);
  EXPECT_EQ(mesh.cells[6][0], mesh.cells[0][0] + 8);
  EXPECT_EQ(mesh.cell_body[35], 0);
  EXPECT_EQ(mesh.cell_body[36], 1);
  EXPECT_EQ(mesh.facet_ids[30], mesh.facet_ids[0]);
}

TEST_F(Scene, DimensionsMustAgree) {
  const std::vector specs{box(1), file("a.obj", square_obj)};
  EXPECT_THAT(message_of([&] { geometry_dimension(specs); }),
              AllOf(HasSubstr("/geometry/1"), HasSubstr("a.obj"), HasSubstr("triangles"),
                    HasSubstr("/geometry/0 (generator)")));
  EXPECT_THAT(message_of([&] { assemble_geometry(specs, 3); }), HasSubstr("triangles in a scene in 3D"));
  auto obstacle = box(1);
  obstacle.is_obstacle = true;
  EXPECT_THAT(message_of([&] { geometry_dimension(std::vector{obstacle}); }),
              HasSubstr("no deformable body"));
  EXPECT_TRUE(assemble_geometry(std::vector{obstacle}, 3).deformable.cells.empty());
  EXPECT_EQ(geometry_dimension(std::vector{box(1), box(2)}), 3);
  auto disk = box(1);
  disk.generator->shape = GeneratorShape::disk;
  EXPECT_EQ(geometry_dimension(std::vector{disk}), 2);
}

TEST_F(Scene, ErrorsNameEntryAndFile) {
  auto absent = box(1);
  absent.generator.reset();
  EXPECT_THAT(message_of([&] { geometry_dimension(std::vector{absent}); }),
              HasSubstr("neither a mesh nor a generator"));
  absent.mesh = "absent.msh";
  for (const auto& act : {std::function<void()>([&] { geometry_dimension(std::vector{absent}); }),
                          std::function<void()>([&] { assemble_geometry(std::vector{absent}, 3); })})
    EXPECT_THAT(message_of(act), AllOf(HasSubstr("/geometry/0: absent.msh"), HasSubstr("no such file")));
  auto flat = box(1);
  flat.transformation.scale = {1, 1, 0};
  EXPECT_THAT(message_of([&] { assemble_geometry(std::vector{flat}, 3); }),
              AllOf(HasSubstr("/geometry/1 (generator): tetrahedron 0"), HasSubstr("no volume"),
                    HasSubstr("(-0.5, -0.5, 0)")));
  auto stl = file("a.stl", "solid\n");
  EXPECT_THAT(message_of([&] { geometry_dimension(std::vector{stl}); }), HasSubstr("STL holds surfaces"));
  auto edges = box(1);
  edges.extract = Extract::edges;
  EXPECT_THAT(message_of([&] { assemble_geometry(std::vector{edges}, 3); }),
              HasSubstr("extract must be volume"));
}

TEST_F(Scene, FilesAreReadOnce) {
  const auto spec = file("a.obj", square_obj);
  MeshFiles files;
  EXPECT_EQ(geometry_dimension(std::vector{spec}, files), 2);
  std::filesystem::remove(spec.mesh);
  EXPECT_EQ(assemble_geometry(std::vector{spec, spec}, 2, files).deformable.cells.size(), 4u);
  EXPECT_THROW(files.load(spec.mesh), InputError) << "assembling lets the files go";
}

} // namespace
} // namespace recoil::mesh
