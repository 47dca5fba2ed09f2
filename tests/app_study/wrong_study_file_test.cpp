#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app_study/study_text.hpp"
#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::app::wrong_study_file_test {
namespace {

using ::testing::HasSubstr;

class WrongStudySettings : public ::testing::TestWithParam<WrongStudy> {};

TEST_P(WrongStudySettings, IsRefused) { expect_refused(GetParam()); }

const WrongStudy inputs[] = {
    {"unknown_root_key", R"({"paramters": []})", "{}", {"(/paramters)", "did you mean 'parameters'"}},
    {"no_inheritance", R"({"common": "other.json"})", "{}", {"(/common)", "unknown key"}},
    {"no_experiments", R"({"experiments": null})", "{}", {"the whole file", "'experiments' is missing"}},
    {"scene_missing",
     R"({"experiments": [{"name": "drop", "scene": "drob.json"}]})",
     "{}",
     {"(/experiments/0/scene)", "no such file", "did you mean 'drop.json'"}},
    {"experiment_twice",
     R"({"experiments": [{"name": "drop", "scene": "drop.json"}, {"name": "drop", "scene": "drop.json"}]})",
     "{}",
     {"(/experiments/1/name)", "'drop' is taken already"}},
    {"experiment_without_name", R"({"experiments": [{"scene": "drop.json"}]})", "{}", {"'name' is missing"}},
    {"marker_twice",
     R"({"markers": [{"name": "a", "body": "ball", "rest": [0, 0, 0]},
                     {"name": "a", "body": "ball", "rest": [0, 0, 0]}]})",
     "{}",
     {"(/markers/1/name)", "'a' is taken already"}},
    {"marker_without_place",
     R"({"markers": [{"name": "a", "body": "ball"}]})",
     "{}",
     {"(/markers/0)", "needs one of `rest`"}},
    {"marker_with_place_and_id",
     R"({"markers": [{"name": "a", "body": "ball", "rest": [0, 0, 0], "id": 3}]})",
     "{}",
     {"(/markers/0)", "needs one of `rest`"}},
    {"store_nothing", R"({"sweep": {"store_every": 0}})", "{}", {"(/sweep/store_every)", "is 0"}},
    {"budget_of_one", R"({"sweep": {"state_budget": 1}})", "{}", {"(/sweep/state_budget)", ">= 2", "is 1"}},
    {"budget_of_all",
     R"({"sweep": {"state_budget": "all"}})",
     "{}",
     {"(/sweep/state_budget)", "must be integer or null", "\"all\""}},
    {"loose", R"({"sweep": {"tolerance": 0.1}})", "{}", {"(/sweep/tolerance)", "0.01", "is 0.1"}},
    {"exact",
     R"({"sweep": {"tolerance": 0}})",
     "{}",
     {"(/sweep/tolerance)", "must be > 0 and <= 0.01", "is 0"}},
    {"sweep_key",
     R"({"sweep": {"store_evry": 1}})",
     "{}",
     {"(/sweep/store_evry)", "did you mean 'store_every'"}},
    {"no_directions", R"({"check": {"directions": 0}})", "{}", {"(/check/directions)", "is 0"}},
    {"one_step",
     R"({"check": {"steps": [1e-3]}})",
     "{}",
     {"(/check/steps)", "at least 2", "a slope needs two"}},
    {"growing_steps",
     R"({"check": {"steps": [1e-3, 1e-2]}})",
     "{}",
     {"(/check/steps/1)", "descending", "0.01 comes after 0.001"}},
    {"method",
     R"({"optimizer": {"method": "gauss-newton"}})",
     "{}",
     {"(/optimizer/method)", "did you mean 'gauss_newton'"}},
    {"no_start", R"({"optimizer": {"starts": 0}})", "{}", {"(/optimizer/starts)", "is 0"}},
    {"starts_in_words",
     R"({"optimizer": {"starts": "three"}})",
     "{}",
     {"(/optimizer/starts)", "a number or one of \"auto\", is \"three\""}},
    {"starts_without_bounds",
     R"({"optimizer": {"starts": 3}})",
     "{}",
     {"(/optimizer/starts)", "'v0' has none; give it `bounds`, or `component_bounds`"}},
    {"seed", R"({"optimizer": {"seed": -1}})", "{}", {"(/optimizer/seed)", "is -1"}},
    {"on_failure",
     R"({"optimizer": {"on_failure": "ignore"}})",
     "{}",
     {"(/optimizer/on_failure)", "\"reject\", \"drop\""}},
    {"stop_at_noise",
     R"({"optimizer": {"stop_at_noise": 1}})",
     "{}",
     {"(/optimizer/stop_at_noise)", "must be true or false"}},
    {"profile_of_nothing",
     R"({"uncertainty": {"profile": ["e"]}})",
     "{}",
     {"(/uncertainty/profile/0)", "there is no parameter 'e'", "did you mean 'E'"}},
    {"profile_twice",
     R"({"uncertainty": {"profile": ["E", "E"]}})",
     "{}",
     {"(/uncertainty/profile/1)", "stands here twice"}},
    {"profile_of_a_field",
     R"({"parameters": [{"name": "E", "quantity": "young_modulus", "per": "element", "initial": 1}],
         "uncertainty": {"profile": ["E"]}})",
     "{}",
     {"(/uncertainty/profile/0)", "a fit for every point", "values per element"}},
    {"profile_of_a_tie",
     R"({"parameters": [{"name": "a", "quantity": "young_modulus", "body": "ball", "initial": 1},
                        {"name": "b", "quantity": "young_modulus", "body": "plinth", "tie": "a"}],
         "uncertainty": {"profile": ["b"]}})",
     "{}",
     {"(/uncertainty/profile/0)", "'b' has the value of 'a'"}},
    {"step_of_zero", R"({"check": {"steps": [1e-3, 0]}})", "{}", {"(/check/steps/1)", "must be > 0"}},
};

INSTANTIATE_TEST_SUITE_P(Table, WrongStudySettings, ::testing::ValuesIn(inputs),
                         [](const auto& info) { return std::string(info.param.name); });

class WrongStudyFile : public ::testing::Test {
protected:
  std::string message_for(const std::string& text) {
    std::ofstream(folder_ / "study.json", std::ios::binary) << text;
    try {
      read_study(folder_ / "study.json");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  testing::TemporaryFolder folder_;
};

TEST_F(WrongStudyFile, SyntaxErrorHasLineAndColumn) {
  EXPECT_THAT(message_for("{\n  \"sweep\": {\"tolerance\": 1,,\n}"),
              HasSubstr("study.json:2:28: not valid JSON"));
}

TEST_F(WrongStudyFile, NotAnObject) { EXPECT_THAT(message_for("[]"), HasSubstr("a study is a JSON object")); }

TEST_F(WrongStudyFile, Scene) {
  EXPECT_THAT(message_for(R"({"geometry": [], "contact": {}})"),
              AllOf(HasSubstr("study.json: is a scene"), HasSubstr("recoil simulate")));
}

TEST_F(WrongStudyFile, KeyTwice) {
  EXPECT_THAT(message_for("{\n\"sweep\": {},\n\"sweep\": {}}"),
              AllOf(HasSubstr("study.json:3 (/sweep)"), HasSubstr("occurs twice")));
}

TEST_F(WrongStudyFile, LineOfTheOffendingValue) {
  EXPECT_THAT(message_for("{\n \"parameters\": [\n  {\n   \"name\": \"E\",\n   \"bodie\": 1}]}"),
              AllOf(HasSubstr("study.json:5 (/parameters/0/bodie)"), HasSubstr("did you mean 'bodies'")));
}

TEST_F(WrongStudyFile, AllFindingsAtOnce) {
  const auto message = message_for(R"({"sweep": {"tolerance": 1}, "check": {"directions": -1}})");
  EXPECT_THAT(message, HasSubstr("(/sweep/tolerance)"));
  EXPECT_THAT(message, HasSubstr("(/check/directions)"));
  EXPECT_THAT(message, HasSubstr("'experiments' is missing"));
}

} // namespace
} // namespace recoil::app::wrong_study_file_test
