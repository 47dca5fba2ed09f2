#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/app/solvers/elastodynamics/validate_against_mesh.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two triangles of two bodies that share an edge, as a weld would leave them.
mesh::SimplexMesh welded_pair() {
  mesh::SimplexMesh mesh;
  mesh.dim = 2;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  mesh.cells = {{0, 1, 2, -1}, {1, 3, 2, -1}};
  mesh.cell_body = {0, 1};
  mesh.cell_volume_id = {0, 0};
  const auto none = mesh::unselected_facet, inside = mesh::interior_facet;
  mesh.facet_ids = {{inside, none, 1, inside}, {none, inside, none, inside}};
  mesh.vertex_point_id = {0, 0, 0, 5};
  mesh.cell_source = {0, 0};
  mesh.body_names = {"a", "b"};
  return mesh;
}

Scene pair_scene() {
  return read_changed(
             R"({"geometry": [{"name": "a", "mesh": "meshes/square.obj"}, {"name": "b", "mesh": "meshes/square.obj"}]})")
      .scene;
}

TEST(MeshAgreement, OrdersOfBodiesThatShareAVertex) {
  auto scene = pair_scene();
  elements_of(scene).space.body_orders = {{"a", 1}, {"b", 2}};
  try {
    validate_against_mesh(scene, welded_pair(), {}, {});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/space/discr_order"), HasSubstr("'a' and 'b' share vertex"),
                                    HasSubstr("1 and 2")));
  }
  elements_of(scene).space.body_orders = {{"a", 2}, {"b", 2}};
  EXPECT_NO_THROW(validate_against_mesh(scene, welded_pair(), {}, {}));
}

TEST(MeshAgreement, PointIdsCarryPrescribedValues) {
  auto scene = pair_scene();
  scene.boundary_conditions.dirichlet[0].ids = {5};
  EXPECT_NO_THROW(validate_against_mesh(scene, welded_pair(), {}, {}));
  scene.boundary_conditions.dirichlet[0].ids = {6};
  EXPECT_THROW(validate_against_mesh(scene, welded_pair(), {}, {}), InputError);
}

/// As in scenes of PolyFEM where a selection reaches the bodies of an earlier geometry only.
TEST(MeshAgreement, SelectionOfNothingIsRefusedOnlyWhereItsIdIsUsed) {
  const auto warnings = [](const std::string& change) {
    auto scene = read_changed(change).scene;
    validate_with_meshes(scene);
    return scene.warnings;
  };
  const std::string box =
      R"({"name": "box", "generator": {"type": "box", "size": [1, 1, 1], "divisions": 1},)";
  const std::string face = R"({"id": 1, "axis": "-x", "position": -0.5})",
                    nothing = R"({"id": 2, "axis": "x", "position": 9})";
  EXPECT_THAT(
      warnings(R"({"geometry": [)" + box + R"("surface_selection": [)" + face + "," + nothing + "]}]}"),
      ElementsAre(AllOf(HasSubstr("(/geometry/0/surface_selection/1): x >= 9 selects no boundary facet"),
                        HasSubstr("spans (-0.5, -0.5, -0.5) to (0.5, 0.5, 0.5)"))));
  EXPECT_THAT(warnings(R"({"geometry": [)" + box + R"("surface_selection": )" + face +
                       R"(, "point_selection": [{"id": 1, "center": [9, 9, 9], "radius": 1}]}]})"),
              ElementsAre(HasSubstr("selects no boundary vertex")))
      << "another selection gives the id";
  EXPECT_THAT(warnings(R"({"geometry": [)" + box + R"("surface_selection": )" + face +
                       R"(, "volume_selection": [{"id": 7, "center": [9, 9, 9], "radius": 1}]}]})"),
              ElementsAre(HasSubstr("selects no cell")));
  EXPECT_THROW(warnings(R"({"geometry": [)" + box + R"("surface_selection": )" + nothing +
                        R"(}], "boundary_conditions": {"dirichlet_boundary": null,
                            "neumann_boundary": [{"id": 2, "value": [0, 0, 1]}]}})"),
               InputError);
}

TEST(MeshAgreement, TractionsDoNotLookAtPoints) {
  auto scene = pair_scene();
  scene.boundary_conditions.neumann.push_back(
      {.all = false, .ids = {5}, .value = {0.0, 0.0}, .interpolation = {}, .where = "x"});
  EXPECT_THROW(validate_against_mesh(scene, welded_pair(), {}, {}), InputError);
}

TEST(MeshAgreement, PrescribedValueMayBelongToAnObstacle) {
  auto scene = pair_scene();
  scene.boundary_conditions.dirichlet[0].ids = {44};
  mesh::SurfaceMesh obstacle;
  obstacle.surface_id = 44;
  EXPECT_NO_THROW(validate_against_mesh(scene, welded_pair(), std::vector{obstacle}, {}));
}

TEST(MeshAgreement, ThirdComponentInThePlaneMustBeZero) {
  auto scene = pair_scene();
  scene.boundary_conditions.rhs = {0.0, 9.81, 1.0};
  try {
    validate_against_mesh(scene, welded_pair(), {}, {});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/boundary_conditions/rhs"), HasSubstr("2D")));
  }
}

} // namespace
} // namespace recoil::app
