#include <cmath>

#include <nlohmann/json.hpp>

#include "recoil/app/scene/keys.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

using nlohmann::ordered_json;

/// Schemas of list items that are objects, named after their place; referred to where they stand alone or in
/// a list.
using Definitions = ordered_json;

ordered_json schema_of(const KeyNode& node, const std::string& place, Definitions& definitions);

ordered_json bounded(ordered_json schema, const Range& range) {
  if (std::isfinite(range.min)) schema[range.min_open ? "exclusiveMinimum" : "minimum"] = range.min;
  if (std::isfinite(range.max)) schema[range.max_open ? "exclusiveMaximum" : "maximum"] = range.max;
  return schema;
}

ordered_json quantity(const Key& key, const ordered_json& value) {
  return {{"type", "object"},
          {"properties",
           {{"value", value}, {"unit", {{"type", "string"}, {"default", key.unit ? key.unit : ""}}}}},
          {"required", {"value"}},
          {"additionalProperties", false}};
}

ordered_json object_schema(const KeyNode& node, const std::string& place, Definitions& definitions) {
  ordered_json schema{{"type", "object"}};
  ordered_json properties = ordered_json::object(), required = ordered_json::array();
  for (const auto* child : node.ordered) {
    properties[child->name] =
        schema_of(*child, place.empty() ? child->name : place + "." + child->name, definitions);
    if (child->key->required) required.push_back(child->name);
  }
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

ordered_json choices_of(const Key& key) {
  auto all = ordered_json::array();
  for (const auto& choice : split_choices(key.choices)) all.push_back(ordered_json::parse(choice));
  return {{"enum", all}};
}

/// The forms a value may take, without lists.
std::vector<ordered_json> single_forms(const KeyNode& node, unsigned types, const std::string& place,
                                       Definitions& definitions) {
  const Key& key = *node.key;
  std::vector<ordered_json> forms;
  if (key.choices && types & (text | integer | number | boolean)) {
    forms.push_back(choices_of(key));
    types &= ~unsigned(key.takes_text_or_number() ? text : text | integer | number | boolean);
  }
  if (types & boolean) forms.push_back({{"type", "boolean"}});
  if (types & integer && !(types & (number | expression))) {
    forms.push_back(bounded({{"type", "integer"}}, key.range));
  }
  if (types & (number | expression)) {
    const auto value = bounded({{"type", "number"}}, key.range);
    forms.push_back(value);
    forms.push_back(quantity(key, value));
  }
  // Material constants do not change in time.
  const bool is_constant = std::string_view(key.pattern).starts_with("/materials");
  if (types & expression)
    forms.push_back(
        {{"type", "string"}, {"description", is_constant ? "formula of x, y, z" : "formula of x, y, z, t"}});
  if (types & (text | path | folder)) forms.push_back({{"type", "string"}});
  if (types & element_data)
    forms.push_back({{"type", "object"},
                     {"properties", {{"file", {{"type", "string"}}}, {"dataset", {{"type", "string"}}}}},
                     {"required", {"file", "dataset"}},
                     {"additionalProperties", false}});
  if (types & object) forms.push_back(object_schema(node, place, definitions));
  if (types & null) forms.push_back({{"type", "null"}});
  return forms;
}

ordered_json item_schema(const KeyNode& node, const std::string& place, Definitions& definitions) {
  auto schema = schema_of(*node.item, place, definitions);
  if (!(node.item->key->types & object)) return schema;
  definitions[place] = std::move(schema);
  return {{"$ref", "#/$defs/" + place}};
}

ordered_json list_schema(const KeyNode& node, const ordered_json& item) {
  ordered_json schema{{"type", "array"}, {"items", item}};
  if (node.key->length[0] > 0) schema["minItems"] = node.key->length[0];
  if (node.key->length[1] < 1 << 30) schema["maxItems"] = node.key->length[1];
  return schema;
}

ordered_json any_of(std::vector<ordered_json> forms) {
  if (forms.empty()) return ordered_json::object();
  if (forms.size() == 1) return std::move(forms.front());
  return {{"anyOf", std::move(forms)}};
}

void describe(const Key& key, ordered_json& schema) {
  std::string description = key.doc;
  const auto add = [&](const std::string& sentence) {
    description += (description.empty() ? "" : " ") + sentence;
  };
  if (key.unit) add("Unit: " + std::string(key.unit) + ".");
  if (key.unit_by) add("Unit: that of the " + std::string(key.unit_by) + ".");
  if (key.implied) add("Default: " + std::string(key.implied) + ".");
  if (key.mark == Mark::ignored) add("Ignored: " + std::string(key.reason) + ".");
  if (key.mark == Mark::refused)
    add("Refused unless one of the values allowed: " + std::string(key.reason) + ".");
  if (!description.empty()) schema["description"] = description;
  if (key.fallback) schema["default"] = ordered_json::parse(key.fallback);
}

ordered_json schema_of(const KeyNode& node, const std::string& place, Definitions& definitions) {
  const Key& key = *node.key;
  ordered_json schema;
  if (key.mark == Mark::refused) {
    schema = key.choices ? choices_of(key) : ordered_json{{"not", ordered_json::object()}};
  } else if (key.types & anything) {
    schema = ordered_json::object();
  } else {
    auto forms = single_forms(node, key.types, place, definitions);
    if (node.is_list()) {
      const auto item = item_schema(node, place, definitions);
      if (key.types & (one_or_list | one_or_several)) forms.push_back(item);
      forms.push_back(list_schema(node, item));
    }
    schema = any_of(std::move(forms));
  }
  if (*key.doc) describe(key, schema);
  return schema;
}

std::string shown_default(const Key& key) {
  if (key.required) return "required";
  if (key.fallback) return "`" + std::string(key.fallback) + "`";
  return key.implied ? key.implied : "";
}

std::string shown_values(const Key& key) {
  std::string shown;
  const auto add = [&](const std::string& part) { shown += (shown.empty() ? "" : "; ") + part; };
  if (key.unit) add(key.unit);
  if (key.unit_by) add("unit of the `" + std::string(key.unit_by) + "`");
  if (!key.range.is_everything()) add(key.range.describe());
  if (key.choices) {
    std::string all;
    for (const auto& choice : split_choices(key.choices)) all += (all.empty() ? "`" : ", `") + choice + "`";
    add((key.mark == Mark::refused ? "only " : "") + all);
  }
  return shown;
}

std::string shown_meaning(const Key& key) {
  std::string meaning = key.doc;
  const auto add = [&](const std::string& sentence) { meaning += (meaning.empty() ? "" : " ") + sentence; };
  if (!key.solvers.empty()) add(fmt::format("*Of `{}` only.*", fmt::join(key.solvers, "`, `")));
  if (key.mark == Mark::ignored) add("*Ignored: " + std::string(key.reason) + ".*");
  if (key.mark == Mark::refused) add("*Refused: " + std::string(key.reason) + ".*");
  return meaning;
}

/// Spaces let long alternatives break over lines.
std::string shown_key(const std::string& pattern) {
  std::string shown;
  for (const char c : pattern) shown += c == ',' ? std::string(", ") : std::string(1, c);
  return "`" + shown.substr(1) + "`";
}

} // namespace

std::string json_schema(const KeyTable& table) {
  ordered_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", std::string("recoil ") + table.kind}};
  auto definitions = ordered_json::object();
  schema.update(schema_of(table.tree, "", definitions));
  schema["description"] = std::string("A ") + table.kind + ".";
  // What `common` brings need not stand in the file itself.
  if (table.inherits()) schema.erase("required");
  schema["$defs"] = std::move(definitions);
  return schema.dump(1) + "\n";
}

std::string table_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

void fill_in(std::string& page, const std::string& name, const std::string& text) {
  const std::string line = "\n@" + name + "@\n";
  const std::size_t place = page.find(line);
  RECOIL_ASSERT(place != std::string::npos);
  page.replace(place + 1, line.size() - 1, text);
}

std::string markdown(const KeyTable& table) {
  std::string page = table.page;
  for (const auto& section : table.sections) {
    std::string rows = "| key | type | default | unit, range, values | meaning |\n|---|---|---|---|---|\n";
    for (const auto& key : section.keys)
      rows += "| " + table_cell(shown_key(key.pattern)) + " | " + table_cell(describe_types(key)) + " | " +
              table_cell(shown_default(key)) + " | " + table_cell(shown_values(key)) + " | " +
              table_cell(shown_meaning(key)) + " |\n";
    fill_in(page, section.name, rows);
  }
  return page;
}

} // namespace recoil::app
