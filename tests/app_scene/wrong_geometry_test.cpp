#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"

namespace recoil::app {
namespace {

class WrongGeometry : public ::testing::TestWithParam<WrongInput> {};

TEST_P(WrongGeometry, IsRefused) { expect_refused(GetParam()); }

#define BOX "\"generator\": {\"type\": \"box\", \"size\": [1, 1, 1], \"divisions\": [1, 1, 1]}"
#define PLANE(settings)                                                                                      \
  "{\"geometry\": [{" BOX                                                                                    \
  "}, {\"type\": \"plane\", \"is_obstacle\": true, \"point\": [0, 0, -1], \"normal\": [0, 0, 1], " settings  \
  "}]}"
#define FACE "\"surface_selection\": {\"id\": 1, \"axis\": \"x\", \"position\": 0.5}"

const WrongInput wrong_geometries[] = {
    {"no_geometry", R"({"geometry": null})", {"the whole file", "'geometry' is missing"}},
    {"empty_geometry", R"({"geometry": []})", {"(/geometry)", "at least 1", "0 entries"}},
    {"missing_mesh",
     R"({"geometry": {"mesh": "meshes/squar.obj"}})",
     {"(/geometry/mesh)", "no such file", "squar.obj", "did you mean 'square.obj'"}},
    {"missing_folder",
     R"({"geometry": [{"mesh": "no/such/cube.msh"}]})",
     {"(/geometry/0/mesh)", "no such file", "folder does not exist"}},
    {"missing_selection_file",
     "{\"geometry\": [{" BOX ", \"surface_selection\": \"ids.txt\"}]}",
     {"(/geometry/0/surface_selection)", "no such file", "ids.txt"}},
    {"unknown_key",
     "{\"geometry\": [{" BOX ", \"is_obstackle\": true}]}",
     {"scene.json:", "(/geometry/0/is_obstackle)", "unknown key", "did you mean 'is_obstacle'"}},
    {"unknown_selection_key",
     "{\"geometry\": [{" BOX ", \"surface_selection\": {\"id\": 1, \"bocks\": 3}}]}",
     {"(/geometry/0/surface_selection/bocks)", "unknown key"}},
    {"wrong_type",
     "{\"geometry\": [{" BOX ", \"n_refs\": 1.5}]}",
     {"(/geometry/0/n_refs)", "must be integer", "1.5"}},
    {"negative_refinement", "{\"geometry\": [{" BOX ", \"n_refs\": -1}]}", {"/n_refs)", "0 to 12", "-1"}},
    {"neither_mesh_nor_generator",
     R"({"geometry": [{"name": "a"}]})",
     {"(/geometry/0)", "`mesh`", "`generator`"}},
    {"both_mesh_and_generator",
     "{\"geometry\": [{" BOX ", \"mesh\": \"meshes/square.obj\"}]}",
     {"(/geometry/0)", "both `mesh` and `generator`"}},
    {"sphere_without_radius",
     "{\"geometry\": [{" BOX ", \"surface_selection\": [{\"id\": 1, \"center\": [0, 0, 0]}]}]}",
     {"(/geometry/0/surface_selection/0)", "needs `radius`"}},
    {"selection_without_id",
     "{\"geometry\": [{" BOX ", \"surface_selection\": [{\"box\": [[0, 0, 0], [1, 1, 1]]}]}]}",
     {"/surface_selection/0)", "needs an `id`"}},
    {"empty_surface_selection",
     "{\"geometry\": [{" BOX ", \"surface_selection\": [{\"id\": 1, \"axis\": \"x\", \"position\": 3}]}]}",
     {"(/geometry/0/surface_selection/0)", "selects no boundary facet",
      "(/boundary_conditions/dirichlet_boundary/0) uses its id 1"}},
    {"empty_volume_selection",
     "{\"geometry\": [{" BOX "," FACE
     ", \"volume_selection\": {\"id\": 5, \"center\": [9, 0, 0], \"radius\": 1}}], \"materials\": ["
     "{\"type\": \"NeoHookean\", \"E\": 1, \"nu\": 0}, {\"id\": 5, \"type\": \"NeoHookean\", \"E\": 1, "
     "\"nu\": 0}]}",
     {"(/geometry/0/volume_selection)", "selects no cell", "(/materials/1) uses its id 5"}},
    {"same_name_twice",
     "{\"geometry\": [{\"name\": \"a\", " BOX "}, {\"name\": \"a\", " BOX "}]}",
     {"(/geometry/1)", "'a'", "taken already", "(/geometry/0)"}},
    {"generator_without_size",
     R"({"geometry": [{"generator": {"type": "box", "divisions": 2}}]})",
     {"(/geometry/0/generator)", "box needs `size`"}},
    {"box_in_the_plane",
     R"({"geometry": [{"generator": {"type": "box", "size": [1, 1], "divisions": 2}}]})",
     {"(/geometry/0/generator/size)", "3 sizes, here are 2", "\"rectangle\""}},
    {"generator_with_foreign_key",
     R"({"geometry": [{"generator": {"type": "ball", "radius": 1, "height": 2, "divisions": 2}}]})",
     {"(/geometry/0/generator/height)", "ball has no `height`"}},
    {"unknown_generator",
     R"({"geometry": [{"generator": {"type": "bal", "radius": 1, "divisions": 2}}]})",
     {"(/geometry/0/generator/type)", "did you mean 'ball'", "\"bal\""}},
    {"negative_radius",
     R"({"geometry": [{"generator": {"type": "ball", "radius": -1, "divisions": 2}}]})",
     {"(/geometry/0/generator/radius)", "> 0", "-1"}},
    {"mesh_sequence",
     R"({"geometry": [{"type": "mesh_sequence", "mesh": "meshes/two_tets.msh"}]})",
     {"(/geometry/0/type)", "mesh_sequence", "not built"}},
    {"array_without_type",
     "{\"geometry\": [{" BOX ", \"array\": {\"size\": [1, 1, 1], \"offset\": 1}}]}",
     {"(/geometry/0)", "`array` needs \"type\": \"mesh_array\""}},
    {"length_unit",
     "{\"geometry\": [{" BOX ", \"unit\": \"mm\"}]}",
     {"(/geometry/0/unit)", "is of mesh files", "leave it out"}},
    {"deformable_surface",
     "{\"geometry\": [{" BOX ", \"extract\": \"surface\"}]}",
     {"/extract)", "deformable"}},
    {"only_obstacles",
     R"({"geometry": [{"mesh": "meshes/floor.obj", "is_obstacle": true}]})",
     {"(/geometry)", "no deformable body"}},
    {"obstacle_with_selection_list",
     R"({"geometry": [{"mesh": "meshes/floor.obj", "is_obstacle": true, "surface_selection": [{"id": 1}]}]})",
     {"(/geometry/0/surface_selection)", "one integer"}},
    {"plane_without_normal",
     "{\"geometry\": [{" BOX "}, {\"type\": \"plane\", \"is_obstacle\": true, \"point\": [0, 0, 0]}]}",
     {"(/geometry/1)", "needs `normal`"}},
    {"moved_plane",
     PLANE("\"transformation\": {\"translation\": [0, 0, 0.5]}"),
     {"(/geometry/1/transformation/translation)", "no effect on a plane", "`point` and `normal`"}},
    {"scaled_plane",
     PLANE("\"transformation\": {\"scale\": [1, 1, 2]}"),
     {"(/geometry/1/transformation/scale)", "no effect on a plane"}},
    {"plane_with_dimensions",
     PLANE("\"transformation\": {\"dimensions\": [1, 1, 1]}"),
     {"(/geometry/1/transformation/dimensions)", "no effect on a plane"}},
    {"turned_plane",
     PLANE("\"transformation\": {\"rotation\": [30, 0, 0]}"),
     {"(/geometry/1/transformation/rotation)", "no effect on a plane"}},
    {"plane_with_rotation_mode",
     PLANE("\"transformation\": {\"rotation_mode\": \"zyx\"}"),
     {"(/geometry/1/transformation/rotation_mode)", "no effect on a plane"}},
    {"plane_that_moves",
     PLANE("\"surface_selection\": 3"),
     {"(/geometry/1/surface_selection)", "planes rest", "take a mesh"}},
    {"refined_plane", PLANE("\"n_refs\": 2"), {"(/geometry/1/n_refs)", "no effect on a plane"}},
    {"extract_of_plane", PLANE("\"extract\": \"edges\""), {"(/geometry/1/extract)", "no effect on a plane"}},
    {"normalized_plane",
     PLANE("\"advanced\": {\"normalize_mesh\": true}"),
     {"(/geometry/1/advanced/normalize_mesh)", "no effect on a plane"}},
    {"rotation_mode",
     "{\"geometry\": [{" BOX ", \"transformation\": {\"rotation_mode\": \"euler\"}}]}",
     {"/transformation/rotation_mode)", "axis letters", "euler"}},
    {"rotation_size",
     "{\"geometry\": [{" BOX
     ", \"transformation\": {\"rotation_mode\": \"quaternion\", \"rotation\": [0, 0, 1]}}]}",
     {"/transformation/rotation)", "4 numbers", "has 3"}},
    {"two_dimensions", "{\"geometry\": [{" BOX "}, {\"mesh\": \"meshes/square.obj\"}]}", {"(/geometry/1)"}},
    {"order_out_of_range", R"({"space": {"discr_order": 5}})", {"(/space/discr_order)", "1 to 4", "is 5"}},
    {"order_of_unknown_body",
     R"({"space": {"discr_order": [{"body": "bax", "order": 2}]}})",
     {"(/space/discr_order/0/body)", "no body 'bax'", "did you mean 'box'"}},
    {"other_basis", R"({"space": {"basis_type": "Spline"}})", {"(/space/basis_type)", "Spline", "Lagrange"}},
};

TEST(PlaneSettings, DefaultsMayStand) {
  EXPECT_NO_THROW(read_changed(
      PLANE("\"n_refs\": 0, \"extract\": \"volume\", \"advanced\": {\"normalize_mesh\": false}, "
            "\"transformation\": {\"translation\": [0, 0], \"scale\": [1, 1, 1], \"rotation\": 0}")));
}

INSTANTIATE_TEST_SUITE_P(Table, WrongGeometry, ::testing::ValuesIn(wrong_geometries),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace recoil::app
