#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

namespace recoil::app {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

json resolved(const std::filesystem::path& path) { return json::parse(read_scene(path).resolved); }

TEST(Inheritance, MergesNestedFilesAndReplacesLists) {
  const testing::TemporaryFolder folder;
  write_file(folder / "deep/root.json",
             R"({"time": {"dt": 0.5, "time_steps": 7, "quasistatic": true}, "gravity": [1, 2, 3]})");
  write_file(folder / "base.json",
             R"({"common": "deep/root.json", "time": {"dt": 0.25}, "space": {"discr_order": 2}})");
  write_file(folder / "scene.json", changed_scene(R"({"common": "base.json", "gravity": [0, 0, 9]})"));

  const auto scene = read_scene(folder / "scene.json").scene;

  EXPECT_EQ(scene.time.dt, 0.25);
  EXPECT_EQ(scene.time.steps, 7);
  EXPECT_EQ(scene.time.kind, TimeKind::quasistatic);
  EXPECT_EQ(elements_of(scene).space.order, 2);
  EXPECT_THAT(scene.gravity, ElementsAre(0, 0, 9));
}

TEST(Inheritance, NullDeletesAndPatchComesLast) {
  const testing::TemporaryFolder folder;
  write_file(folder / "base.json", R"({"time": {"dt": 0.5, "time_steps": 7}, "contact": {"dhat": 0.5}})");
  auto scene = json::parse(changed_scene(
      R"({"common": "base.json", "patch": [{"op": "add", "path": "/gravity", "value": [0, 0, 4]}]})"));
  scene["time"] = nullptr;
  write_file(folder / "scene.json", scene.dump());

  const auto read = read_scene(folder / "scene.json").scene;

  EXPECT_EQ(read.time.kind, TimeKind::statics);
  EXPECT_EQ(read.contact.dhat, 0.5);
  EXPECT_THAT(read.gravity, ElementsAre(0, 0, 4));
}

TEST(Inheritance, PathsStartFromTheIncludingScene) {
  const testing::TemporaryFolder folder;
  write_file(folder / "main/cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  write_file(folder / "shared/base.json",
             R"({"geometry": {"mesh": "cube.obj"}, "materials": {"type": "NeoHookean", "E": 1, "nu": 0}})");
  write_file(folder / "main/scene.json", R"({"common": "../shared/base.json"})");
  EXPECT_EQ(resolved(folder / "main/scene.json")["geometry"][0]["mesh"], (folder / "main/cube.obj").string());
}

TEST(Inheritance, RootPathOfACommonFileIsItsOwn) {
  const testing::TemporaryFolder folder;
  write_file(folder / "shared/meshes/cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  write_file(folder / "shared/base.json", R"({"root_path": "meshes", "geometry": {"mesh": "cube.obj"},
                                             "materials": {"type": "NeoHookean", "E": 1, "nu": 0}})");
  write_file(folder / "main/scene.json", R"({"common": "../shared/base.json"})");
  EXPECT_EQ(resolved(folder / "main/scene.json")["geometry"][0]["mesh"],
            (folder / "shared/meshes/cube.obj").string());
}

TEST(Inheritance, NormsAreNotInheritedButStepsAre) {
  const testing::TemporaryFolder folder;
  write_file(folder / "base.json", R"({"tests": {"err_l2": 3, "time_steps": 9}})");
  write_file(folder / "scene.json", changed_scene(R"({"common": "base.json", "tests": {"err_h1": 4}})"));
  const auto tests = resolved(folder / "scene.json")["tests"];
  EXPECT_FALSE(tests.contains("err_l2"));
  EXPECT_EQ(tests["err_h1"], 4);
  EXPECT_EQ(tests["time_steps"], 9);
}

} // namespace
} // namespace recoil::app
