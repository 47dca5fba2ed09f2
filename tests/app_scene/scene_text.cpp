#include "app_scene/scene_text.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "recoil/app/solvers/elastodynamics/validate_against_mesh.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"

namespace recoil::app {

std::string changed_scene(const std::string& merge_patch) {
  auto scene = nlohmann::json::parse(R"({
    "geometry": [{
      "name": "box",
      "generator": {"type": "box", "size": [1, 1, 1], "divisions": [1, 1, 1]},
      "surface_selection": [{"id": 1, "axis": "-x", "position": -0.5}]
    }],
    "materials": [{"type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000}],
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]}
  })");
  scene.merge_patch(nlohmann::json::parse(merge_patch));
  return scene.dump(1);
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

SceneFile read_changed(const std::string& merge_patch) {
  return parse_scene(changed_scene(merge_patch), "scene.json", RECOIL_TEST_DATA "/scenes");
}

void validate_with_meshes(Scene& scene) {
  const int dim = mesh::geometry_dimension(scene.geometry);
  const auto assembled = mesh::assemble_geometry(scene.geometry, dim);
  validate_against_mesh(scene, assembled.deformable, assembled.obstacles, assembled.empty_selections);
}

std::ostream& operator<<(std::ostream& out, const WrongInput& input) { return out << input.name; }

void expect_refused(const WrongInput& input) {
  try {
    auto file = read_changed(input.merge_patch);
    validate_with_meshes(file.scene);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    for (const char* part : input.parts) EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
  }
}

} // namespace recoil::app
