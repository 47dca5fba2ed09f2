#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::filesystem::path& path) {
  try {
    read_scene(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

class WrongFile : public ::testing::Test {
protected:
  std::string message_for(const std::string& text) {
    write_file(folder_ / "scene.json", text);
    return message_of(folder_ / "scene.json");
  }

  testing::TemporaryFolder folder_;
};

TEST_F(WrongFile, Missing) {
  EXPECT_THAT(message_of(folder_ / "scene.jsn"), HasSubstr("scene.jsn: no such file"));
}

TEST_F(WrongFile, Folder) { EXPECT_THAT(message_of(folder_.path()), HasSubstr("is not a file")); }

TEST_F(WrongFile, Empty) { EXPECT_THAT(message_for(""), HasSubstr("scene.json:1:1: not valid JSON")); }

TEST_F(WrongFile, SyntaxErrorHasLineAndColumn) {
  EXPECT_THAT(message_for("{\n  \"time\": {\"dt\": 0.1,,\n}"), HasSubstr("scene.json:2:22: not valid JSON"));
}

TEST_F(WrongFile, CutShort) { EXPECT_THAT(message_for("{\n \"time\": {"), HasSubstr("scene.json:2:")); }

TEST_F(WrongFile, NotAnObject) { EXPECT_THAT(message_for("[1, 2]"), HasSubstr("a scene is a JSON object")); }

TEST_F(WrongFile, Study) {
  EXPECT_THAT(message_for(R"({"experiments": [], "parameters": []})"),
              AllOf(HasSubstr("scene.json: is a study"), HasSubstr("recoil gradient")));
}

TEST_F(WrongFile, NumberTooLarge) {
  EXPECT_EQ(message_for("{\n \"space\": {\"a/b\": [0]},\n \"gravity\": [0, 1e999, 0]}")
                .substr(folder_.path().string().size()),
            "/scene.json:3:17 (/gravity/1): not valid JSON here: the number 1e999 is too large for double "
            "precision; give one below 1.8e308");
  EXPECT_THAT(message_for("{\"a/b\": [[], {\"c\": -1e400}]}"), HasSubstr("(/a~1b/1/c)"));
  EXPECT_THAT(message_for("{\"gravity\": " + std::string(5000, '9') + "}").size(), ::testing::Lt(500u));
}

TEST_F(WrongFile, NoTextOfTheParser) {
  for (const char* text : {"", "{", "{\"a\"", "{\"a\": 1e}", "[1,]", "{\"a\": \"\x01\"}", "{\"a\": \"\xff\"}",
                           "nul", "{} {}", "{'a': 1}"}) {
    const auto message = message_for(text);
    EXPECT_THAT(message, HasSubstr("scene.json:1:")) << text;
    for (const char* part : {"json.exception", "syntax error while", "parse error at"})
      EXPECT_THAT(message, ::testing::Not(HasSubstr(part))) << text;
  }
}

TEST_F(WrongFile, ByteOrderMarkKeepsThePlaces) {
  EXPECT_THAT(message_for("\xEF\xBB\xBF{\n\"tme\": 1}"), HasSubstr("scene.json:2 (/tme)"));
}

TEST_F(WrongFile, NestedTooDeep) {
  EXPECT_THAT(message_for("{\"geometry\": " + std::string(100000, '[') + std::string(100000, ']') + "}"),
              HasSubstr("nested deeper"));
}

TEST_F(WrongFile, KeyTwice) {
  EXPECT_THAT(message_for("{\n\"time\": {\"dt\": 1,\n\"tend\": 2,\n\"dt\": 3}\n}"),
              AllOf(HasSubstr("scene.json:4 (/time/dt)"), HasSubstr("occurs twice")));
}

TEST_F(WrongFile, LineOfTheOffendingValue) {
  EXPECT_THAT(message_for("{\n  \"geometry\": [\n    {\n      \"mash\": \"a.msh\"\n    }\n  ]\n}"),
              AllOf(HasSubstr("scene.json:4 (/geometry/0/mash)"), HasSubstr("did you mean 'mesh'")));
}

TEST_F(WrongFile, AllFindingsAtOnce) {
  const auto message = message_for(R"({"geometry": [{"mash": 1}], "matreials": [], "time": {"dt": -1}})");
  EXPECT_THAT(message, HasSubstr("(/geometry/0/mash)"));
  EXPECT_THAT(message, HasSubstr("(/matreials)"));
  EXPECT_THAT(message, HasSubstr("(/time/dt)"));
}

TEST_F(WrongFile, CommonMissing) {
  EXPECT_THAT(message_for("{\n\"common\": \"../base.json\"}"),
              AllOf(HasSubstr("scene.json:2 (/common)"), HasSubstr("base.json"), HasSubstr("no such file")));
}

TEST_F(WrongFile, CommonGoesInACircle) {
  write_file(folder_ / "a.json", R"({"common": "scene.json"})");
  EXPECT_THAT(message_for(R"({"common": "a.json"})"),
              AllOf(HasSubstr("circle"), HasSubstr("scene.json -> a.json -> scene.json")));
}

TEST_F(WrongFile, FindingInCommonNamesThatFile) {
  write_file(folder_ / "base.json", "{\n\n\"time\": {\"dt\": 0}}");
  EXPECT_THAT(message_for(changed_scene(R"({"common": "base.json"})")), HasSubstr("base.json:3 (/time/dt)"));
}

TEST_F(WrongFile, PatchDoesNotApply) {
  EXPECT_THAT(message_for(changed_scene(R"({"patch": [{"op": "replace", "path": "/tme/dt", "value": 1}]})")),
              AllOf(HasSubstr("(/patch/0)"), HasSubstr("does not apply: there is nothing at /tme")));
}

TEST_F(WrongFile, PatchOperationsTellWhatIsWrong) {
  const auto patched = [&](const std::string& operation) {
    return message_for(changed_scene(R"({"patch": [)" + operation + "]}"));
  };
  EXPECT_THAT(patched("7"), HasSubstr("must be an object"));
  EXPECT_THAT(patched(R"({"path": "/time"})"), HasSubstr("needs `op`"));
  EXPECT_THAT(patched(R"({"op": "ADD", "path": "/time"})"), HasSubstr("must be one of add, remove"));
  EXPECT_THAT(patched(R"({"op": "add", "path": "/time"})"), HasSubstr("`add` needs a `value`"));
  EXPECT_THAT(patched(R"({"op": "add", "path": "time", "value": 1})"), HasSubstr("must be a JSON pointer"));
  EXPECT_THAT(patched(R"({"op": "add", "path": "/~2", "value": 1})"), HasSubstr("must be a JSON pointer"));
  EXPECT_THAT(patched(R"({"op": "add", "path": "/geometry/99", "value": 1})"),
              HasSubstr("nothing can be added at /geometry/99"));
  EXPECT_THAT(patched(R"({"op": "remove", "path": "/geometry/00"})"), HasSubstr("nothing at /geometry/00"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "/a";
  EXPECT_THAT(patched(R"({"op": "remove", "path": ")" + deep + "\"}"), HasSubstr("deeper than any scene"));
  EXPECT_THAT(patched(R"({"op": "remove", "path": ""})"), HasSubstr("removes the whole scene"));
  EXPECT_THAT(patched(R"({"op": "copy", "path": "/time"})"), HasSubstr("needs `from`"));
  EXPECT_THAT(patched(R"({"op": "move", "from": "/geometry", "path": "/geometry/0/x"})"),
              HasSubstr("moves /geometry into itself"));
  EXPECT_THAT(patched(R"({"op": "test", "path": "/geometry", "value": 1})"),
              HasSubstr("the test does not hold"));
  EXPECT_THAT(patched(R"({"op": "replace", "path": "", "value": 1})"), HasSubstr("no JSON object"));
}

TEST_F(WrongFile, PatchThatCopiesTheSceneIntoItself) {
  std::string doubling, nesting;
  for (int i = 0; i < 60; ++i) {
    const std::string comma = i ? "," : "";
    doubling += comma + R"({"op": "copy", "from": "", "path": "/x)" + std::to_string(i) + "\"}";
    nesting +=
        comma +
        R"({"op": "move", "from": "/geometry", "path": "/y"}, {"op": "add", "path": "/geometry", "value": {}},)"
        R"({"op": "move", "from": "/y", "path": "/geometry/z"})";
  }
  EXPECT_THAT(message_for(changed_scene(R"({"patch": [)" + doubling + "]}")),
              AllOf(HasSubstr("(/patch/"), HasSubstr("copy the scene into itself")));
  EXPECT_THAT(message_for(changed_scene(R"({"patch": [)" + nesting + "]}")),
              HasSubstr("deeper than any scene"));
}

TEST_F(WrongFile, PatchDoesWhatItSays) {
  write_file(folder_ / "scene.json", changed_scene(R"({"patch": [
    {"op": "add", "path": "/gravity", "value": [1, 2]}, {"op": "add", "path": "/gravity/-", "value": 3},
    {"op": "add", "path": "/gravity/0", "value": 9}, {"op": "remove", "path": "/gravity/1"},
    {"op": "copy", "from": "/gravity/2", "path": "/gravity/0"}, {"op": "remove", "path": "/gravity/1"},
    {"op": "test", "path": "/gravity", "value": [3, 2, 3]}, {"op": "replace", "path": "/gravity/1", "value": 5}]})"));
  EXPECT_THAT(read_scene(folder_ / "scene.json").scene.gravity, ::testing::ElementsAre(3, 5, 3));
}

TEST_F(WrongFile, RootPathMissing) {
  EXPECT_THAT(message_for(changed_scene(R"({"root_path": "nowhere"})")),
              AllOf(HasSubstr("(/root_path)"), HasSubstr("no such folder")));
}

/// What `recoil simulate` tells on every rank is found in the resolved text.
TEST_F(WrongFile, ResolvedSceneNamesThePlacesOfTheFile) {
  write_file(folder_ / "base.json", R"({
    "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.3},

    "initial_conditions": {"velocity": {"id": 0, "value": [1, 0, 0]}}
  })");
  const auto path = folder_ / "scene.json";
  write_file(path, R"({
    "common": "base.json",
    "geometry": {
      "generator": {"type": "box", "size": [1, 1, 1], "divisions": [1, 1, 1]}
    },
    "boundary_conditions": {
      "dirichlet_boundary": {"id": 1, "value": [0, 0, 0]}
    },
    "time": {"dt": 0.1, "time_steps": 1}
  })");
  const SceneFile written = read_scene(path);
  const SceneFile resolved = read_resolved(written.resolved, written.locations, path, all_solvers().format());
  const auto place = [&](const char* file, const std::string& line_and_pointer) {
    return (folder_ / file).string() + line_and_pointer;
  };
  for (const SceneFile* file : {&written, &resolved}) {
    const Scene& scene = file->scene;
    EXPECT_EQ(scene.geometry.at(0).where, place("scene.json", ":3 (/geometry)"));
    EXPECT_EQ(scene.boundary_conditions.dirichlet.at(0).where,
              place("scene.json", ":7 (/boundary_conditions/dirichlet_boundary)"));
    EXPECT_EQ(elements_of(scene).materials.at(0).where, place("base.json", ":2 (/materials)"));
    EXPECT_EQ(scene.initial_conditions.velocity.at(0).region.where,
              place("base.json", ":4 (/initial_conditions/velocity)"));
    EXPECT_EQ(scene.file, path);
  }
  EXPECT_EQ(resolved.resolved, written.resolved);
  EXPECT_EQ(resolved.locations, written.locations);
}

TEST(OutputFields, NamesContactForcesWithoutContact) {
  for (const std::string field : {"contact_force", "friction_force"}) {
    const auto file = read_changed(R"({"output": {"fields": ")" + field + R"("}})");
    try {
      check_output_fields(file.scene);
      FAIL() << field << " accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("/output/fields"), HasSubstr("contact/enabled")));
    }
  }
}

TEST(OutputFields, AcceptsContactForcesWithContact) {
  const auto file = read_changed(
      R"({"contact": {"enabled": true}, "output": {"fields": ["contact_force", "friction_force"]}})");
  EXPECT_NO_THROW(check_output_fields(file.scene));
}

} // namespace
} // namespace recoil::app
