#include "recoil/app/scene/scene_keys.hpp"

#include <deque>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/scene/build.hpp"

namespace recoil::app {

extern const char* const scene_page;   // of docs/scene.md.in
extern const char* const polyfem_keys; // of polyfem_keys.json

namespace {

unsigned types_of(const nlohmann::json& names) {
  static const std::map<std::string, unsigned> types = {
      {"boolean", boolean}, {"integer", integer}, {"number", number},           {"text", text},
      {"object", object},   {"list", list},       {"one_or_list", one_or_list}, {"anything", anything}};
  unsigned all = 0;
  for (const std::string name : names) all |= types.at(name);
  return all;
}

const char* text_of(const nlohmann::json& row, const char* name) {
  return row.contains(name) ? keep(row[name].dump()) : nullptr;
}

/// Rows of what PolyFEM's scenes may hold beside ours, in a section of the documentation.
std::vector<Key> polyfem_rows(const std::string& section) {
  static const auto groups = nlohmann::json::parse(polyfem_keys);
  std::vector<Key> rows;
  for (const auto& group : groups) {
    if (group["section"] != section) continue;
    for (const auto& row : group["keys"])
      rows.push_back({.pattern = keep(row["key"]),
                      .types = types_of(row["types"]),
                      .items = types_of(row.value("items", nlohmann::json::array())),
                      .fallback = text_of(row, "default"),
                      .choices = text_of(row, "tolerated"),
                      .mark = group["mark"] == "ignored" ? Mark::ignored : Mark::refused,
                      .reason = keep(group["reason"]),
                      .doc = keep(row["doc"])});
  }
  return rows;
}

} // namespace

const char* keep(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text)).c_str();
}

KeySection complete_section(const char* name, std::span<const Key> rows) {
  static std::deque<std::vector<Key>> sections;
  std::vector<Key>& complete = sections.emplace_back(rows.begin(), rows.end());
  for (Key& row : complete) {
    if (row.member == nullptr) continue;
    row.types |= row.member->types;
    if (const std::string initial = row.member->initial(); !initial.empty())
      (row.filled_in ? row.fallback : row.implied) = keep(initial);
    if (const std::string choices = row.member->choices(); !choices.empty()) row.choices = keep(choices);
  }
  std::ranges::move(polyfem_rows(name), std::back_inserter(complete));
  return {name, complete};
}

const KeyTable& scene_keys() {
  static const KeyTable table = [] {
    static std::vector<KeySection> sections;
    for (const auto& group : {geometry_sections(), physics_sections(), solver_sections()})
      sections.insert(sections.end(), group.begin(), group.end());
    return KeyTable{"scene", scene_page, sections, build_key_tree(sections)};
  }();
  return table;
}

namespace {

/// Whether a resolved value is the default that stands where nothing is written.
bool is_default(const Key& key, const nlohmann::json& value) {
  if (!key.fallback) return false;
  const auto fallback = nlohmann::json::parse(key.fallback);
  return value == fallback || value == nlohmann::json::array({fallback});
}

void refuse_elements(const KeyNode& node, const Item& item) {
  if (item.is_list()) {
    if (node.item)
      for (const Item& entry : item.items()) refuse_elements(*node.item, entry);
    return;
  }
  // What is switched off is not looked at.
  if (!item.is_object() || (item.has("enabled") && !item["enabled"].flag())) return;
  // A single object may stand for a list of them.
  const auto& children = node.children.empty() && node.item ? node.item->children : node.children;
  for (const auto& [name, child] : children) {
    if (!item.has(name.c_str())) continue;
    const Item member = item[name.c_str()];
    const Key& key = *child->key;
    if (key.without_elements && !is_default(key, nlohmann::json::parse(member.dump())))
      member.fail(std::string("is of finite elements, this is a scene of bonded particles; ") +
                  key.without_elements);
    refuse_elements(*child, member);
  }
}

} // namespace

void refuse_keys_of_elements(const Item& root) { refuse_elements(scene_keys().tree, root); }

std::string scene_json_schema() { return json_schema(scene_keys()); }

std::string scene_markdown() { return markdown(scene_keys()); }

void set_bound_members(const KeyTable& table, const Item& root, Scene& scene) {
  const auto set = [&](const Key& key) {
    Item item = root;
    std::istringstream names(std::string(key.pattern).substr(1));
    for (std::string name; std::getline(names, name, '/');) {
      if (!item.has(name.c_str())) return;
      item = item[name.c_str()];
    }
    key.member->set(scene, item);
  };
  for (const KeySection& section : table.sections)
    for (const Key& key : section.keys)
      if (key.member != nullptr) set(key);
}

} // namespace recoil::app
