#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"
#include "recoil/base/error.hpp"
#include "support/scene_collection.hpp"

namespace recoil::app {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> suite_scenes() {
  std::vector<fs::path> scenes;
  if (const fs::path folder = test::scene_collection(); !folder.empty())
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const auto name = entry.path().filename().string();
      const bool part = name == "common.json" || name == "main.json" || name == "elastic_common.json" ||
                        name == "rival.json";
      if (entry.path().extension() == ".json" && !part) scenes.push_back(entry.path());
    }
  std::sort(scenes.begin(), scenes.end());
  return scenes;
}

TEST(SuiteScenes, AllAreAcceptedWithTheirMeshes) {
  const auto scenes = suite_scenes();
  if (scenes.empty()) GTEST_SKIP() << "set RECOIL_SCENES to the folder of the scene collection";
  for (const auto& path : scenes) {
    SCOPED_TRACE(path.string());
    try {
      auto file = read_scene(path);
      EXPECT_TRUE(file.scene.warnings.empty()) << file.scene.warnings.front();
      for (auto& spec : file.scene.geometry) spec.n_refs = std::min(spec.n_refs, 2);
      validate_with_meshes(file.scene);
      EXPECT_EQ(parse_scene(file.resolved, "resolved", "/").resolved, file.resolved);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

} // namespace
} // namespace recoil::app
