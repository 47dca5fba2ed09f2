#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/study/input/build_study.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"

namespace recoil::app::study_documentation_test {
namespace {

using nlohmann::json;

TEST(StudyDocumentation, CommittedFileIsWhatTheTableSays) {
  std::ifstream file(RECOIL_TEST_DATA "/../../docs/study.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == study_markdown()) << "write docs/study.md anew: recoil schema study --markdown";
}

/// The example in the text is the one that the tests read.
TEST(StudyDocumentation, ShowsTheExample) {
  const auto text = study_markdown();
  const auto begin = text.find("```json\n") + 8;
  const auto shown = json::parse(text.substr(begin, text.find("```\n", begin) - begin));
  EXPECT_EQ(shown, json::parse(std::ifstream(RECOIL_TEST_DATA "/studies/example.json")));
}

TEST(StudyDocumentation, EveryKeyIsExplained) {
  for (const auto& section : study_keys().sections)
    for (const auto& key : section.keys) {
      EXPECT_FALSE(describe_types(key).empty()) << key.pattern;
      EXPECT_TRUE(*key.doc) << key.pattern;
      EXPECT_EQ(key.unit_by != nullptr, key.unit_for != nullptr) << key.pattern;
    }
}

TEST(StudyDocumentation, TablesNameKeysAndUnitsThatExist) {
  const KeyNode& tree = study_keys().tree;
  const auto& parameter = tree.children.at("parameters")->item->children;
  for (const ParameterKind& row : parameter_kinds()) {
    EXPECT_EQ(find_parameter_kind(row.name), &row);
    EXPECT_FALSE(row.per.empty()) << row.name;
    EXPECT_EQ(std::set(row.per.begin(), row.per.end()).size(), row.per.size()) << row.name;
    for (const ParameterKind& other : row.later) {
      EXPECT_STREQ(other.unit, row.unit) << row.name;
      EXPECT_EQ(other.components, row.components) << row.name;
      if (other.actions<3>().weights) {
        EXPECT_TRUE(other.quantities == row.quantities) << row.name;
      }
    }
    if (row.unit) {
      EXPECT_TRUE(parse_unit(row.unit).has_value()) << row.name;
    }
    for (const auto& key : row.takes) EXPECT_TRUE(parameter.contains(key)) << row.name << " " << key;
    for (const auto& key : row.needs)
      EXPECT_NE(std::find(row.takes.begin(), row.takes.end(), key), row.takes.end()) << row.name;
  }
  const auto& objective = tree.children.at("objectives")->item->children;
  for (const ObjectiveType& row : objective_types()) {
    EXPECT_EQ(find_objective_type(row.name), &row);
    for (const Key& key : row.keys) {
      const std::string name = std::string(key.pattern).substr(std::string("/objectives/*/").size());
      ASSERT_TRUE(objective.contains(name)) << row.name << " " << name;
      // What is one row in the table must mean the same in every type.
      const Key& merged = *objective.at(name)->key;
      EXPECT_STREQ(merged.choices, key.choices) << row.name << " " << name;
      EXPECT_EQ(merged.types & key.types, key.types) << row.name << " " << name;
      EXPECT_EQ(merged.items & key.items, key.items) << row.name << " " << name;
      if (((key.types | key.items) & number) == 0) continue;
      EXPECT_EQ(merged.range.describe(), key.range.describe()) << row.name << " " << name;
      EXPECT_STREQ(merged.unit_by ? merged.unit_for(row.name) : merged.unit, key.unit)
          << row.name << " " << name;
    }
  }
}

/// Keys that no row takes could never be written.
TEST(StudyDocumentation, EveryKeyIsTaken) {
  std::set<std::string> taken{"name", "quantity", "experiment", "initial", "bounds", "component_bounds",
                              "held", "scale",    "prior",      "tie"};
  for (const ParameterKind& row : parameter_kinds()) taken.insert(row.takes.begin(), row.takes.end());
  for (const auto* child : study_keys().tree.children.at("parameters")->item->ordered)
    EXPECT_TRUE(taken.contains(child->name)) << child->name;
  taken = {"name", "type", "experiment", "weight", "power", "loss", "sd_factor"};
  for (const ObjectiveType& row : objective_types())
    for (const std::string& key : row.takes()) taken.insert(key);
  for (const auto* child : study_keys().tree.children.at("objectives")->item->ordered)
    EXPECT_TRUE(taken.contains(child->name)) << child->name;
}

TEST(StudySchema, KnowsNestedKeysAndNames) {
  const auto schema = json::parse(study_json_schema());
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["title"], "recoil study");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], json({"experiments", "parameters", "objectives"}));
  EXPECT_EQ(schema["properties"]["sweep"]["properties"]["tolerance"]["default"], 1e-10);
  EXPECT_EQ(schema["properties"]["sweep"]["properties"]["state_budget"]["anyOf"][1]["type"], "null");
  const auto& parameter = schema["$defs"]["parameters"]["properties"];
  EXPECT_EQ(parameter["quantity"]["enum"].size(), parameter_kinds().size());
  EXPECT_EQ(parameter["basis"]["anyOf"][0]["enum"], json({"vertices", "boundary_vertices", "affine"}));
  EXPECT_EQ(schema["$defs"]["objectives"]["properties"]["type"]["enum"].size(), objective_types().size());
}

} // namespace
} // namespace recoil::app::study_documentation_test
