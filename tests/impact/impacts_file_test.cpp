#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/impact/impacts_file.hpp"
#include "app/impact/planned_impacts.hpp"
#include "impact/breakable.hpp"
#include "recoil/app/impact/impact.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("recoil_impacts_" + std::to_string(::getpid()) + ".json");
  ~TemporaryFile() { std::filesystem::remove(path); }
};

ImpactsFile read_text(const std::string& text, int dim) {
  const TemporaryFile file;
  std::ofstream(file.path) << text;
  return read_impacts(file.path, dim);
}

std::string refusal(const std::string& text, int dim = 3) {
  try {
    read_text(text, dim);
  } catch (const InputError& error) {
    return error.what();
  }
  return "was accepted";
}

TEST(ImpactsFile, CommittedPageIsWhatTheTableSays) {
  std::ifstream file(RECOIL_TEST_DATA "/../../docs/impacts.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == impacts_markdown())
      << "write docs/impacts.md anew with `recoil schema impacts --markdown`";
}

TEST(ImpactsFile, HasDefaults) {
  const auto file = read_text(R"({"impacts": {"place": [1, 2, 3]}, "bodies": {}})", 3);
  ASSERT_EQ(file.impacts.size(), 1u);
  EXPECT_EQ(*file.impacts[0].place, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(file.impacts[0].magnitude, 1);
  EXPECT_EQ(file.impacts[0].sigma, 1);
  EXPECT_TRUE(file.impacts[0].direction.empty());
  EXPECT_EQ(file.random.count, 0);
  EXPECT_EQ(file.bodies->gravity, (std::vector<double>{0, 0, -9.81}));
  EXPECT_FALSE(file.bonds.has_value());
  // What is kept for a restart is read again with the same meaning.
  const auto again = read_text(file.resolved, 3);
  EXPECT_EQ(again.resolved, file.resolved);
  const auto flat =
      read_text(R"({"impacts": [{"place": [1, 2, 0], "projection": "modes"}], "bodies": {}})", 2);
  EXPECT_EQ(*flat.impacts[0].place, (std::vector<double>{1, 2}));
  EXPECT_EQ(flat.impacts[0].projection, solvers::fracture_modes::ImpactProjection::modes);
  EXPECT_EQ(flat.bodies->gravity, (std::vector<double>{0, -9.81}));
}

TEST(ImpactsFile, WrongOnesAreRefusedWithPlaceAndCure) {
  const struct {
    const char *text, *message;
    int dim = 3;
  } cases[] = {
      {"{}", "has no impacts: give `impacts`, or `random` with a `count`"},
      {R"({"impact": []})", "impacts"},
      {R"({"impacts": [{}]})", "has neither `place` nor `vertex`"},
      {R"({"impacts": [{"place": [0, 0, 0], "vertex": 1}]})", "has both `place` and `vertex`"},
      {R"({"impacts": [{"place": [0, 0]}]})",
       "/impacts/0/place): has two components, but the shape is in 3D"},
      {R"({"impacts": [{"place": [0, 0, 1]}]})", "has a third component, but the shape is in 2D", 2},
      {R"({"impacts": [{"place": [0, 0, 1], "direction": [0, 0, 0]}]})", "/impacts/0/direction): is zero"},
      {R"({"impacts": [{"place": [0, 0, 1], "sigma": 0}]})", "/impacts/0/sigma"},
      {R"({"impacts": [{"place": [0, 0, 1], "magnitude": -1}]})", "/impacts/0/magnitude"},
      {R"({"impacts": [{"place": [0, 0, 1], "projection": "all"}]})", "/impacts/0/projection"},
      {R"({"impacts": [{"place": "top"}]})", "/impacts/0/place"},
      {R"({"impacts": [{"vertex": -1}]})", "/impacts/0/vertex"},
      {R"({"random": {"count": -1}})", "/random/count"},
      {R"({"random": {"count": 2, "magnitude": [2, 1]}})", "/random/magnitude): has its larger number first"},
      {R"({"random": {"count": 2, "magnitude": 0}})", "/random/magnitude"},
      {R"({"random": {"count": 2}, "output": {"format": "stl"}})", "/output/format"},
      {R"({"random": {"count": 2}, "output": {"format": "ply"}})", "/output/format): is for surfaces in 3D",
       2},
      {R"({"random": {"count": 2}, "output": {"smoothing_length": -1}})", "/output/smoothing_length"},
      {R"({"random": {"count": 2}, "bodies": {"gap": 0.5}})", "/bodies/gap"},
      {R"({"random": {"count": 2}, "bodies": {"gravity": [0, 0]}})", "/bodies/gravity): has two components"},
      {R"({"random": {"count": 2}, "bonds": {}})", "/bonds"},
      {R"({"random": {"count": 2}, "bonds": {"radius": 0.1}})", "/bonds): is for shapes in 3D", 2},
      {R"({"geometry": [], "random": {"count": 2}})", "is no file of impacts"},
      {R"({"impacts": [{"place": [0, 0, 1]})", "not valid JSON"},
  };
  for (const auto& [text, message, dim] : cases)
    EXPECT_THAT(refusal(text, dim), testing::HasSubstr(message)) << text;
}

TEST(ImpactsFile, PlacesFarFromTheShapeAreRefused) {
  const auto shape = test::breakable_cells<2>(
      [] {
        const auto bar = test::bar_mesh({8, 4});
        cage::CellMesh<2> mesh;
        for (const auto& x : bar.vertices) mesh.vertices.push_back(x.head<2>());
        for (const auto& cell : bar.cells) mesh.cells.push_back({cell[0], cell[1], cell[2]});
        return mesh;
      }(),
      2, 0.3);
  const auto plan = [&](const std::string& text) {
    try {
      return std::to_string(plan_impacts<2>(shape, read_text(text, 2)).size()) + " impacts";
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(plan(R"({"impacts": [{"place": [1.2, 0]}, {"vertex": 0}], "random": {"count": 3}})"),
            "5 impacts");
  EXPECT_THAT(plan(R"({"impacts": [{"place": [3, 0]}]})"),
              testing::HasSubstr("is 2 m from the shape, which lies between (-1, -0.5) and (1, 0.5) m"));
  EXPECT_THAT(plan(R"({"impacts": [{"place": [1e300, 0]}]})"), testing::HasSubstr("very far"));
  EXPECT_THAT(plan(R"({"impacts": [{"vertex": 99}]})"),
              testing::HasSubstr("vertex 99 is not on the boundary of the mesh of 45 vertices"));
  EXPECT_THAT(plan(R"({"impacts": [{"vertex": 20}]})"),
              testing::HasSubstr("vertex 20 is not on the boundary"));
  // Random impacts do not depend on how many there are.
  const auto few = plan_impacts<2>(shape, read_text(R"({"random": {"count": 2, "seed": 4}})", 2)),
             many = plan_impacts<2>(shape, read_text(R"({"random": {"count": 9, "seed": 4}})", 2));
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(few[k].hit.place, many[k].hit.place);
    EXPECT_EQ(few[k].spec.magnitude, many[k].spec.magnitude);
    EXPECT_NEAR(few[k].direction.dot(few[k].hit.normal), -1, 1e-12);
  }
}

} // namespace
} // namespace recoil::app
