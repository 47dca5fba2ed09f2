#include "mesh_input/support.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "support/scene_collection.hpp"

namespace recoil::mesh {
namespace {

namespace fs = std::filesystem;

class SceneMeshes : public ::testing::Test {
protected:
  void SetUp() override {
    root_ = test::scene_collection();
    if (root_.empty()) GTEST_SKIP() << "set RECOIL_SCENES to the folder of the scene collection";
  }
  GeometrySpec spec(const std::string& mesh) const {
    GeometrySpec spec;
    spec.name = mesh;
    spec.mesh = root_ / "contact/meshes" / mesh;
    spec.where = "/geometry/0";
    return spec;
  }
  static std::int64_t facets_with(const SimplexMesh& mesh, std::int32_t id) {
    std::int64_t count = 0;
    for (const auto& ids : mesh.facet_ids) count += std::count(ids.begin(), ids.end(), id);
    return count;
  }

  fs::path root_;
};

TEST_F(SceneMeshes, AllLoadAsBodiesOrObstacles) {
  int bodies = 0, obstacles = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    const auto extension = entry.path().extension();
    if (extension != ".msh" && extension != ".obj") continue;
    SCOPED_TRACE(entry.path().string());
    GeometrySpec spec;
    spec.mesh = entry.path();
    const bool flat = entry.path().string().find("/2D/") != std::string::npos;
    if (entry.path().string().find("/obstacles/") == std::string::npos &&
        entry.path().string().find("codimensional") == std::string::npos) {
      const auto mesh = assemble_geometry(std::vector{spec}, flat ? 2 : 3).deformable;
      EXPECT_EQ(geometry_dimension(std::vector{spec}), mesh.dim);
      const auto quality = body_quality(mesh)[0];
      EXPECT_GT(quality.volume, 0);
      EXPECT_GT(quality.min_scaled_jacobian, 0);
      ++bodies;
    }
    spec.is_obstacle = true;
    GeometrySpec filler;
    filler.generator.emplace();
    filler.generator->shape = flat ? GeneratorShape::rectangle : GeneratorShape::box;
    filler.generator->size.assign(flat ? 2 : 3, 1);
    const auto scene = assemble_geometry(std::vector{filler, spec}, flat ? 2 : 3);
    EXPECT_GT(scene.obstacles.at(0).vertices.size(), 0u);
    ++obstacles;
  }
  EXPECT_GE(bodies, 40);
  EXPECT_GE(obstacles, 50);
}

TEST_F(SceneMeshes, MatTwist) {
  auto mat = spec("3D/simple/mat/mat40x40.msh");
  mat.transformation.rotation = {90, 0, 0};
  mat.surface_selection = {{1, false, true, AxisSelection{1, 0.5}, ""},
                           {3, false, true, AxisSelection{-1, -0.5}, ""}};
  const auto mesh = assemble_geometry(std::vector{mat}, 3).deformable;
  EXPECT_EQ(facets_with(mesh, 1), 78);
  EXPECT_EQ(facets_with(mesh, 3), 78);
}

TEST_F(SceneMeshes, RodTwist) {
  auto rod = spec("3D/simple/rod/rod.msh");
  rod.transformation.translation = {0, -0.1, -0.1};
  rod.surface_selection = {{1, false, true, AxisSelection{1, 0.4999}, ""},
                           {3, false, true, AxisSelection{-1, -0.5}, ""}};
  const auto mesh = assemble_geometry(std::vector{rod}, 3).deformable;
  EXPECT_EQ(facets_with(mesh, 1), 16);
  EXPECT_EQ(facets_with(mesh, 3), 18);
}

TEST_F(SceneMeshes, TwoCubesAndTheirPhysicalGroups) {
  auto cube = spec("3D/simple/cube-denser.msh");
  cube.surface_selection = {{1, true, true, AxisSelection{-2, 1e-5}, ""}};
  const auto mesh = assemble_geometry(std::vector{cube}, 3).deformable;
  EXPECT_EQ(facets_with(mesh, 1), 90);
  EXPECT_EQ(std::count(mesh.cell_volume_id.begin(), mesh.cell_volume_id.end(), 15),
            static_cast<std::int64_t>(mesh.cells.size()));
}

TEST_F(SceneMeshes, StandardCube) {
  auto cube = spec("3D/simple/cube.msh");
  cube.normalize_mesh = true;
  cube.n_refs = 2;
  cube.surface_selection = {{1, true, true, BoxSelection{{0, 0, 0}, {0.001, 1, 1}}, ""},
                            {3, true, true, BoxSelection{{0.999, 0, 0}, {1, 1, 1}}, ""}};
  const auto mesh = assemble_geometry(std::vector{cube}, 3).deformable;
  EXPECT_EQ(mesh.cells.size(), 6u * 64);
  EXPECT_EQ(mesh.vertices.size(), 125u);
  EXPECT_EQ(facets_with(mesh, 1), 32);
  EXPECT_EQ(facets_with(mesh, 3), 32);
  EXPECT_NEAR(body_quality(mesh)[0].volume, 1, 1e-14);
}

TEST_F(SceneMeshes, CodimensionalPointsAndMeshArrays) {
  auto disk = spec("2D/simple/circle/circle588.obj"), points = spec("2D/codimensional/point-plane.obj");
  points.is_obstacle = true;
  points.obstacle_id = 0;
  const auto flat = assemble_geometry(std::vector{disk, points}, 2);
  EXPECT_EQ(flat.obstacles[0].points.size(), 20u);
  EXPECT_EQ(flat.obstacles[0].surface_id, 0);
  EXPECT_EQ(flat.deformable.vertices.size(), 327u);

  auto cubes = spec("3D/simple/cube.msh");
  cubes.transformation.scale.setConstant(0.25);
  cubes.transformation.translation = {-0.375, 0, -0.375};
  cubes.array = ArrayCopies{{4, 4, 4}, 1.01, true};
  const auto pile = assemble_geometry(std::vector{cubes}, 3).deformable;
  EXPECT_EQ(pile.vertices.size(), 512u);
  EXPECT_NEAR(pile.vertices.back().y() - pile.vertices.front().y(), 3 * 1.01 * 0.25 + 0.25, 1e-12);
}

} // namespace
} // namespace recoil::mesh
