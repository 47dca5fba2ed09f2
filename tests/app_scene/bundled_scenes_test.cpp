#include <filesystem>

#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

namespace recoil::app {
namespace {

std::vector<std::string> bundled_scenes() {
  return {"clamped_box", "plane_strain_strip", "inherited_bodies"};
}

class BundledScene : public ::testing::TestWithParam<std::string> {
protected:
  std::filesystem::path path() const {
    return std::string(RECOIL_TEST_DATA "/scenes/") + GetParam() + ".json";
  }
};

TEST_P(BundledScene, AgreesWithItsMeshes) {
  auto file = read_scene(path());
  EXPECT_NO_THROW(validate_with_meshes(file.scene));
}

TEST_P(BundledScene, ResolvedTextReadsBackToItself) {
  const auto first = read_scene(path());
  const testing::TemporaryFolder folder;
  write_file(folder / "run/scene.json", first.resolved);
  const auto second = read_scene(folder / "run/scene.json");
  EXPECT_EQ(first.resolved, second.resolved);
}

INSTANTIATE_TEST_SUITE_P(All, BundledScene, ::testing::ValuesIn(bundled_scenes()),
                         [](const auto& info) { return info.param; });

TEST(ResolvedScene, GivesTheSameValues) {
  const auto first = read_scene(RECOIL_TEST_DATA "/scenes/inherited_bodies.json");
  const auto again = parse_scene(first.resolved, "resolved", "/").scene;
  const auto& scene = first.scene;
  ASSERT_EQ(again.geometry.size(), scene.geometry.size());
  for (std::size_t i = 0; i < scene.geometry.size(); ++i) {
    EXPECT_EQ(again.geometry[i].name, scene.geometry[i].name);
    EXPECT_EQ(again.geometry[i].mesh, scene.geometry[i].mesh);
    EXPECT_EQ(again.geometry[i].transformation.scale, scene.geometry[i].transformation.scale);
    EXPECT_EQ(again.geometry[i].obstacle_id, scene.geometry[i].obstacle_id);
  }
  ASSERT_EQ(elements_of(again).materials.size(), elements_of(scene).materials.size());
  EXPECT_EQ(elements_of(again).materials[1].bodies, elements_of(scene).materials[1].bodies);
  EXPECT_EQ(std::get<Expression>(*elements_of(again).materials[1].find("nu")).text(),
            std::get<Expression>(*elements_of(scene).materials[1].find("nu")).text());
  EXPECT_EQ(again.time.dt, scene.time.dt);
  EXPECT_EQ(again.time.steps, scene.time.steps);
  EXPECT_EQ(elements_of(again).bdf_order, elements_of(scene).bdf_order);
  EXPECT_EQ(again.contact.dhat_relative, scene.contact.dhat_relative);
  EXPECT_EQ(again.boundary_conditions.dirichlet[0].time_reference,
            scene.boundary_conditions.dirichlet[0].time_reference);
  EXPECT_EQ(again.planes[0].point, scene.planes[0].point);
}

TEST(ResolvedScene, KeepsWhetherAMaterialIsAlone) {
  const auto first = read_scene(RECOIL_TEST_DATA "/scenes/clamped_box.json");
  EXPECT_TRUE(elements_of(parse_scene(first.resolved, "resolved", "/").scene).materials[0].everywhere);
}

} // namespace
} // namespace recoil::app
