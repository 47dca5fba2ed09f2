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
        EXPECT_EQ(unit_factor(key.unit, key.unit, {}), 1) << key.pattern;
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
  EXPECT_EQ(unit_factor("N/m^2", "Pa", {}), 1);
  for (const char* odd : {"m^--", "m^5-", "m^-", "m^999999999999"})
    EXPECT_FALSE(unit_factor(odd, "m", {})) << odd;
  EXPECT_EQ(unit_factor("kg m^-1 s^-2", "Pa", {}), 1);
  EXPECT_EQ(unit_factor("kg*m/s^2", "N", {}), 1);
  EXPECT_EQ(unit_factor("", nullptr, {}), 1);
  EXPECT_EQ(unit_factor("rad/s", "1/s", {}), 1);
  EXPECT_EQ(unit_factor("MPa", "Pa", {}), 1e6);
  EXPECT_FALSE(unit_factor("m", nullptr, {}));
  EXPECT_FALSE(unit_factor("m/s", "m/s^2", {}));
  EXPECT_FALSE(unit_factor("deg", "rad", {}));
  for (const char* broken : {"N//m^2", "N/*m^2", "N m^-2/", "/s /", "*"})
    EXPECT_FALSE(unit_factor(broken, "Pa", {})) << broken;
}

TEST(Units, FactorsBetweenSystems) {
  const UnitSystem small{"mm", "g", "ms"}, engineer{"mm", "t", "s"};
  EXPECT_NEAR(*unit_factor("Pa", "Pa", small) / 1e-6, 1, 1e-14);
  EXPECT_NEAR(*unit_factor("MPa", "Pa", engineer), 1, 1e-14);
  EXPECT_NEAR(*unit_factor("N", "N", small), 1, 1e-14);
  EXPECT_NEAR(*unit_factor("kg/m^3", "kg/m^3", engineer) / 1e-12, 1, 1e-14);
  EXPECT_NEAR(*unit_factor("m/s^2", "m/s^2", small) / 1e-3, 1, 1e-14);
  EXPECT_NEAR(*unit_factor("J", "J", engineer) / 1e3, 1, 1e-14);
  EXPECT_EQ(unit_factor("deg", "deg", small), 1);
}

} // namespace
} // namespace recoil::app
