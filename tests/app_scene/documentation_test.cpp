#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app_scene/scene_text.hpp"

namespace recoil::app {
namespace {

using nlohmann::json;

TEST(Documentation, CommittedFileIsWhatTheTableSays) {
  std::ifstream file(RECOIL_TEST_DATA "/../../docs/scene.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == scene_markdown(all_solvers().format()))
      << "write docs/scene.md anew with `recoil schema scene --markdown`";
}

TEST(Documentation, EveryKeyIsExplained) {
  for (const auto& section : scene_keys().sections)
    for (const auto& key : section.keys) {
      EXPECT_FALSE(describe_types(key).empty()) << key.pattern;
      EXPECT_TRUE(key.types & (object | boolean) || *key.doc) << key.pattern;
      EXPECT_TRUE(key.mark == Mark::honoured || key.reason) << key.pattern;
    }
}

TEST(Documentation, DefaultsAreAllowed) {
  for (const auto& section : scene_keys().sections)
    for (const auto& key : section.keys) {
      if (!key.fallback) continue;
      const auto value = json::parse(key.fallback);
      if (value.is_number()) {
        EXPECT_TRUE(key.range.contains(value.get<double>())) << key.pattern;
      }
      const auto choices = split_choices(key.choices);
      if (value.is_string() && !choices.empty()) {
        EXPECT_NE(std::find(choices.begin(), choices.end(), key.fallback), choices.end()) << key.pattern;
      }
    }
}

TEST(Documentation, UnitsAreSi) {
  for (const auto& section : scene_keys().sections)
    for (const auto& key : section.keys)
      if (key.unit) {
        EXPECT_TRUE(is_si_unit(key.unit, key.unit)) << key.pattern;
      }
}

TEST(JsonSchema, KnowsNestedKeys) {
  const auto schema = json::parse(scene_json_schema(all_solvers().format()));
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["time"]["properties"]["dt"]["anyOf"][0]["exclusiveMinimum"], 0);
  EXPECT_EQ(schema["properties"]["contact"]["properties"]["epsv"]["default"], 1e-3);
  EXPECT_TRUE(schema["properties"]["geometry"].contains("anyOf"));
}

TEST(Units, SpellingsOfOneUnit) {
  EXPECT_TRUE(is_si_unit("N/m^2", "Pa"));
  for (const char* odd : {"m^--", "m^5-", "m^-", "m^999999999999"}) EXPECT_FALSE(is_si_unit(odd, "m")) << odd;
  EXPECT_TRUE(is_si_unit("kg m^-1 s^-2", "Pa"));
  EXPECT_TRUE(is_si_unit("kg*m/s^2", "N"));
  EXPECT_TRUE(is_si_unit("", nullptr));
  EXPECT_TRUE(is_si_unit("rad/s", "1/s"));
  EXPECT_FALSE(is_si_unit("MPa", "Pa"));
  EXPECT_FALSE(is_si_unit("m", nullptr));
  EXPECT_FALSE(is_si_unit("m/s", "m/s^2"));
  EXPECT_FALSE(is_si_unit("deg", "rad"));
}

} // namespace
} // namespace recoil::app
