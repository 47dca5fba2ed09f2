#include "app_study/study_text.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

std::string changed_file(const std::string& name, const std::string& merge_patch) {
  auto json = nlohmann::json::parse(std::ifstream(RECOIL_TEST_DATA "/studies/" + name));
  json.merge_patch(nlohmann::json::parse(merge_patch));
  return json.dump(1);
}

} // namespace

std::string changed_study(const std::string& merge_patch) {
  return changed_file("example.json", merge_patch);
}

StudyFile read_changed_study(const std::string& merge_patch) {
  return parse_study(changed_study(merge_patch), "study.json", RECOIL_TEST_DATA "/studies");
}

Scene changed_drop(const std::string& merge_patch) {
  return parse_scene(changed_file("drop.json", merge_patch), "drop.json", RECOIL_TEST_DATA "/studies",
                     all_solvers().format())
      .scene;
}

std::vector<std::string> check_with_scene(const Study& study, const Scene& scene, int dim) {
  const std::vector<Scene> scenes(study.experiments.size(), scene);
  auto warnings = check_study_against_scenes(study, scenes);
  const std::vector<int> dims(scenes.size(), dim);
  check_study_dimensions(study, dims);
  return warnings;
}

std::ostream& operator<<(std::ostream& out, const WrongStudy& input) { return out << input.name; }

std::string with_parameters(const std::string& entries) { return R"({"parameters": [)" + entries + "]}"; }

std::string with_objectives(const std::string& entries) { return R"({"objectives": [)" + entries + "]}"; }

void expect_refused(const WrongStudy& input) {
  const Scene scene = changed_drop(input.scene_patch);
  try {
    check_with_scene(read_changed_study(input.study_patch).study, scene);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("study.json"));
    for (const char* part : input.parts) EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
  }
}

} // namespace recoil::app
