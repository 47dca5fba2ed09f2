#include <ostream>
#include <vector>

#include <gmock/gmock.h>

#include "app_fracture/shape_text.hpp"
#include "recoil/app/fracture/fracture.hpp"

namespace recoil::app {
namespace {

struct WrongShape {
  const char* name;
  const char* merge_patch;
  std::vector<const char*> parts; ///< of the message
};
std::ostream& operator<<(std::ostream& out, const WrongShape& input) { return out << input.name; }

class WrongShapes : public ::testing::TestWithParam<WrongShape> {};

TEST_P(WrongShapes, AreRefused) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const ShapeFolder folder(comm);
  const auto file = folder.write("shape.json", changed_shape(GetParam().merge_patch));
  try {
    validate_shape(comm, file);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    for (const char* part : GetParam().parts) EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
  }
}

#define BOX "\"generator\": {\"type\": \"box\", \"size\": [2, 1, 1], \"divisions\": [4, 2, 2]}"

const WrongShape wrong_shapes[] = {
    {"no_geometry", R"({"geometry": null})", {"the whole file", "'geometry' is missing"}},
    {"empty_geometry", R"({"geometry": []})", {"(/geometry)", "at least 1", "0 entries"}},
    {"no_modes", R"({"modes": null})", {"the whole file", "'modes' is missing"}},
    {"nothing_enabled",
     "{\"geometry\": [{\"enabled\": false, " BOX "}]}",
     {"(/geometry)", "no enabled entry", "leave one enabled"}},
    {"scene", R"({"time": {"dt": 0.1}})", {"shape.json", "is a scene", "recoil simulate"}},
    {"study", R"({"experiments": []})", {"shape.json", "is a study", "recoil gradient"}},
    {"unknown_key", R"({"mode": {}})", {"shape.json:", "(/mode)", "unknown key", "did you mean 'modes'"}},
    {"unknown_mode_key", R"({"modes": {"cuont": 3}})", {"(/modes/cuont)", "did you mean 'count'"}},
    {"no_modes_wanted", R"({"modes": {"count": 0}})", {"(/modes/count)", "1 to 1000", "0"}},
    {"broken_number_of_modes", R"({"modes": {"count": 2.5}})", {"(/modes/count)", "must be integer", "2.5"}},
    {"unknown_weight",
     R"({"modes": {"weight": "area"}})",
     {"(/modes/weight)", "\"tv\", \"paper\", \"reference_code\"", "\"area\""}},
    {"no_starts",
     R"({"modes": {"cut_starts": 0, "eigenvector_starts": 0, "random_starts": 0}})",
     {"(/modes)", "no starts", "at least 1"}},
    {"negative_starts", R"({"modes": {"cut_starts": -1}})", {"(/modes/cut_starts)", "0 to 1000", "-1"}},
    {"negative_seed", R"({"modes": {"seed": -1}})", {"(/modes/seed)", "-1"}},
    {"too_many_whole_elements",
     R"({"modes": {"whole_elements": 2000000}})",
     {"(/modes/whole_elements)", "0 to 1e+06"}},
    {"missing_mesh",
     R"({"geometry": {"mesh": "cub.obj"}})",
     {"(/geometry/mesh)", "no such file", "did you mean 'cube.obj'"}},
    {"neither_mesh_nor_generator", R"({"geometry": [{"name": "a"}]})", {"(/geometry/0)", "`generator`"}},
    {"obstacle",
     "{\"geometry\": [{\"is_obstacle\": true, " BOX "}]}",
     {"(/geometry/0/is_obstacle)", "unknown key"}},
    {"plane",
     R"({"geometry": [{"type": "plane"}]})",
     {"(/geometry/0/type)", "\"mesh\", \"mesh_array\"", "\"plane\""}},
    {"names_twice",
     "{\"geometry\": [{\"name\": \"a\", " BOX "}, {\"name\": \"a\", " BOX "}]}",
     {"(/geometry/1)", "another entry 'a'", "another `name`"}},
    {"surface_without_cage",
     R"({"geometry": {"mesh": "cube.obj"}})",
     {"(/geometry)", "cube.obj", "triangles"}},
    {"two_dimensions",
     "{\"geometry\": [{" BOX "}, {\"generator\": {\"type\": \"disk\", \"radius\": 1, \"divisions\": 2}}]}",
     {"(/geometry/1)", "same dimension"}},
    {"cage_of_generator",
     "{\"geometry\": [{\"cage\": {}, " BOX "}]}",
     {"(/geometry/0/cage)", "`generator`", "leave `cage` out"}},
    {"cage_of_two",
     "{\"geometry\": [{" BOX "}, {\"mesh\": \"cube.obj\", \"cage\": {}}]}",
     {"(/geometry/1/cage)", "one entry", "one file"}},
    {"cage_and_array",
     R"({"geometry": [{"mesh": "cube.obj", "cage": {}, "type": "mesh_array",
                       "array": {"size": [2, 1, 1], "offset": 1}}]})",
     {"(/geometry/0/cage)", "`array`", "leave `array` out"}},
    {"cage_of_none",
     R"({"geometry": {"mesh": "cube.obj", "cage": {"elements": 0}}})",
     {"(/geometry/cage/elements)"}},
    {"cage_of_points",
     R"({"geometry": {"mesh": "points.obj", "cage": {}}})",
     {"(/geometry)", "no triangles"}},
    {"cage_of_flat_surface",
     R"({"geometry": {"mesh": "flat.obj", "cage": {}}})",
     {"(/geometry)", "flat.obj", "enclose"}},
    {"cage_of_lifted_outline",
     R"({"geometry": {"mesh": "lifted.obj", "cage": {}}})",
     {"(/geometry)", "lifted.obj", "z"}},
    {"surface_with_nan", R"({"geometry": {"mesh": "nan.obj", "cage": {}}})", {"(/geometry)", "nan.obj"}},
    {"wrong_rotation",
     R"({"geometry": {"mesh": "cube.obj", "cage": {}, "transformation": {"rotation": [1, 2]}}})",
     {"(/geometry/transformation/rotation)", "needs 3 numbers"}},
    {"unknown_material_id",
     R"({"materials": [{"id": 4, "density": 2}]})",
     {"(/materials/0)", "no element has the volume id 4", "ids in this shape: 0", "`volume_selection`"}},
    {"material_on_nothing",
     "{\"geometry\": [{" BOX ", \"volume_selection\": [{\"id\": 1, \"axis\": \"x\", \"position\": 9}]}],"
     "\"materials\": {\"id\": 1, \"unbreakable\": true}}",
     {"(/materials)", "volume id 1", "selects no cell"}},
    {"negative_density", R"({"materials": {"density": -1}})", {"(/materials/density)", "> 0", "-1"}},
    {"no_toughness", R"({"materials": {"toughness": 0}})", {"(/materials/toughness)", "> 0"}},
    {"cleavage_of_one", R"({"materials": {"cleavage": [1]}})", {"(/materials/cleavage)", "2 to 3"}},
    {"cleavage_in_the_plane",
     R"({"materials": {"cleavage": [1, 2]}})",
     {"(/materials)", "cleavage", "needs 3 numbers in 3D, has 2"}},
    {"cleavage_of_nothing", R"({"materials": {"cleavage": [1, 0, 1]}})", {"(/materials/cleavage/1)", "> 0"}},
    {"cleavage_of_unbreakable",
     R"({"materials": {"cleavage": [1, 2, 1], "unbreakable": true}})",
     {"(/materials/cleavage)", "`unbreakable`", "leave one"}},
    {"tensor_of_scalar_modes",
     R"({"materials": {"jump_tensor": [1, 2, 3]}})",
     {"(/materials/jump_tensor)", "`vector` modes", "leave it out"}},
    {"tensor_in_the_plane",
     R"({"modes": {"type": "vector"}, "materials": {"jump_tensor": [1, 2]}})",
     {"(/materials)", "jump_tensor", "3 numbers or 3 rows in 3D"}},
    {"tensor_of_rows_and_numbers",
     R"({"modes": {"type": "vector"}, "materials": {"jump_tensor": [1, [0, 1, 0], 1]}})",
     {"(/materials/jump_tensor)", "3 rows"}},
    {"unsymmetric_tensor",
     R"({"modes": {"type": "vector"}, "materials": {"jump_tensor": [[1, 2, 0], [1, 9, 0], [0, 0, 1]]}})",
     {"(/materials)", "must be symmetric"}},
    {"indefinite_tensor",
     R"({"modes": {"type": "vector"}, "materials": {"jump_tensor": [1, -1, 1]}})",
     {"(/materials)", "positive definite"}},
    {"unknown_type", R"({"modes": {"type": "tensor"}})", {"(/modes/type)", "\"scalar\", \"vector\""}},
    {"omega_of_scalar_modes",
     R"({"modes": {"relative_omega": 1}})",
     {"(/modes/relative_omega)", "\"type\": \"full\"", "leave it out"}},
    {"no_omega", R"({"modes": {"type": "full", "relative_omega": 0}})", {"(/modes/relative_omega)", "> 0"}},
    {"stiffness_of_scalar_modes",
     R"({"materials": {"youngs_modulus": 1e9}})",
     {"(/materials/youngs_modulus)", "\"full\"", "leave it out"}},
    {"incompressible",
     R"({"modes": {"type": "full"}, "materials": {"poisson_ratio": 0.5}})",
     {"(/materials/poisson_ratio)", "0.5"}},
    {"half_pieces", R"({"modes": {"least_piece": 0.5}})", {"(/modes/least_piece)", "0.5"}},
    {"unbreakable_number",
     R"({"materials": {"unbreakable": 1}})",
     {"(/materials/unbreakable)", "true or false"}},
    {"negative_blur", R"({"impacts": {"blur_length": -1}})", {"(/impacts/blur_length)", "-1"}},
    {"threshold_of_all", R"({"impacts": {"piece_threshold": 1}})", {"(/impacts/piece_threshold)"}},
    {"blur_in_kg",
     R"({"impacts": {"blur_length": {"value": 1, "unit": "kg"}}})",
     {"(/impacts/blur_length)", "\"unit\": \"m\""}},
    {"half_a_piece", R"({"impacts": {"least_piece": 0.5}})", {"(/impacts/least_piece)", "0.5"}},
    {"negative_smoothing", R"({"impacts": {"smoothing_length": -1}})", {"(/impacts/smoothing_length)"}},
    {"negative_interval", R"({"output": {"save_interval": -1}})", {"(/output/save_interval)"}},
    {"short_selection_file",
     "{\"geometry\": [{" BOX ", \"volume_selection\": \"three.txt\"}]}",
     {"(/geometry/0", "three.txt"}},
};

INSTANTIATE_TEST_SUITE_P(AllKinds, WrongShapes, ::testing::ValuesIn(wrong_shapes),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace recoil::app
