#include "recoil/app/scene/scene_format.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/scene/shared_keys.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/scene/document.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {

extern const char* const scene_page;   // of docs/scene.md.in
extern const char* const polyfem_keys; // of polyfem_keys.json

namespace {

/// Options that kernels of several solvers speak of.
constexpr std::array<std::pair<const char*, const char*>, 9> shared_options{
    {{"barrier_stiffness", "/solver/contact/barrier_stiffness"},
     {"dhat", "/contact/dhat"},
     {"dirichlet_boundary", "/boundary_conditions/dirichlet_boundary"},
     {"discr_order", "/space/discr_order"},
     {"dt", "/time/dt"},
     {"friction_iterations", "/solver/contact/friction_iterations"},
     {"rest_pressure_boundary", "/boundary_conditions/rest_pressure_boundary"},
     {"obstacle_displacements", "/boundary_conditions/obstacle_displacements"},
     {"quasistatic", "/time/quasistatic"}}};

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

/// Whether a resolved value is the default that stands where nothing is written.
bool is_default(const Key& key, const nlohmann::json& value, const UnitSystem& units) {
  if (!key.fallback) return false;
  const auto fallback = default_of(key, units);
  if (value == fallback || value == nlohmann::json::array({fallback})) return true;
  // Lists that repeat the value of the default, however long.
  const auto repeats = [&](const nlohmann::json& list) {
    return list.is_array() && !list.empty() &&
           std::ranges::all_of(list, [&](const auto& entry) { return entry == fallback.front(); });
  };
  return repeats(fallback) && repeats(value);
}

/// An object that is there in any case: what is written is inside.
bool is_frame(const Key& key) {
  return key.types & object && key.fallback && std::string_view(key.fallback) == "{}";
}

/// Whether every place that `pattern` stands for is one of `absent` or below it.
bool lies_in(const std::string& pattern, const std::string& absent) {
  const std::vector<std::string> wholes = expand_braces(absent);
  return std::ranges::all_of(expand_braces(pattern), [&](const std::string& one) {
    return std::ranges::any_of(wholes, [&](const std::string& whole) {
      return one.starts_with(whole) && (one.size() == whole.size() || one[whole.size()] == '/');
    });
  });
}

/// The entry that says the most of a pattern; nullptr if none speaks of it.
const AbsentKey* find_absent(const SceneKind& kind, const std::string& pattern) {
  const AbsentKey* found = nullptr;
  for (const AbsentKey& absent : kind.absent)
    if (lies_in(pattern, absent.pattern) &&
        (!found || std::string_view(absent.pattern).size() > std::string_view(found->pattern).size()))
      found = &absent;
  return found;
}

/// Whether a kind has a row that belongs to another one: it shares what the row lies in, and does not lack
/// it.
bool shares(const SceneKind& kind, const std::string& pattern) {
  return kind.shared && find_absent(kind, pattern) == nullptr &&
         std::ranges::any_of(kind.shared(), [&](const std::string& key) { return lies_in(pattern, key); });
}

/// Names of the kinds that have a row which belongs to `owner` (nullptr: to all); none: all kinds have it.
std::vector<std::string> solvers_of(const std::vector<const SceneKind*>& kinds, const SceneKind* owner,
                                    const Key& row) {
  std::vector<std::string> names;
  for (const SceneKind* kind : kinds)
    if (owner ? kind == owner || shares(*kind, row.pattern) : find_absent(*kind, row.pattern) == nullptr)
      names.push_back(kind->name);
  return names.size() == kinds.size() ? std::vector<std::string>{} : names;
}

/// The row with what its member says.
Key completed(Key row) {
  if (row.member == nullptr) return row;
  row.types |= row.member->types;
  if (const std::string initial = row.member->initial(); !initial.empty())
    (row.filled_in ? row.fallback : row.implied) = keep(initial);
  if (const std::string choices = row.member->choices(); !choices.empty()) row.choices = keep(choices);
  return row;
}

/// The row of `solver/type` with the kinds that there are.
void set_solvers(const std::vector<const SceneKind*>& kinds, Key& row) {
  std::vector<std::string> names, things;
  for (const SceneKind* kind : kinds) {
    names.push_back(kind->name);
    things.push_back("`" + names.back() + "`: " + kind->things);
  }
  row.choices = keep(nlohmann::json(names).dump());
  row.fallback = keep(nlohmann::json(names.front()).dump());
  row.doc = keep(fmt::format("{} {}.", row.doc, fmt::join(things, ", ")));
}

void set_materials(const std::vector<const SceneKind*>& kinds, Key& row) {
  std::vector<std::string> names;
  for (const SceneKind* kind : kinds)
    for (const std::string& name : kind->materials())
      if (std::ranges::count(names, name) == 0) names.push_back(name);
  row.choices = keep(nlohmann::json(names).dump());
}

/// Sections in the order in which they are first named, each with the rows of all scenes, those of each kind
/// and those of PolyFEM. `kept` and `solvers` hold what they refer to.
std::vector<KeySection> merged_sections(const std::vector<const SceneKind*>& kinds,
                                        std::deque<std::vector<Key>>& kept,
                                        std::deque<std::vector<std::string>>& solvers) {
  std::vector<std::pair<const char*, std::vector<Key>*>> sections;
  const auto add = [&](const KeySection& given, const SceneKind* owner) {
    const auto is_it = [&](const auto& known) { return std::string_view(known.first) == given.name; };
    auto section = std::ranges::find_if(sections, is_it);
    if (section == sections.end())
      section = sections.insert(sections.end(), {given.name, &kept.emplace_back()});
    for (const Key& row : given.keys) {
      Key& complete = section->second->emplace_back(completed(row));
      complete.solvers = solvers.emplace_back(solvers_of(kinds, owner, row));
      if (std::string_view(row.pattern) == "/solver/type") set_solvers(kinds, complete);
      if (std::string_view(row.pattern) == "/materials/*/type") set_materials(kinds, complete);
    }
  };
  for (const auto& group : {geometry_sections(), physics_sections(), solver_sections()})
    for (const KeySection& section : group) add(section, nullptr);
  for (const SceneKind* kind : kinds)
    for (const KeySection& section : kind->keys()) add(section, kind);
  std::vector<KeySection> merged;
  for (const auto& [name, rows] : sections) {
    std::ranges::move(polyfem_rows(name), std::back_inserter(*rows));
    merged.push_back({name, *rows});
  }
  return merged;
}

/// Refuses in scenes of one kind what belongs to the others.
class AbsentKeys {
public:
  AbsentKeys(const std::vector<const SceneKind*>& kinds, const SceneKind& kind, const UnitSystem& units)
      : kinds_(kinds), kind_(kind), units_(units) {}

  void refuse(const KeyNode& node, const Item& item) const {
    if (item.is_list()) {
      if (node.item)
        for (const Item& entry : item.items()) refuse(*node.item, entry);
      return;
    }
    // What is switched off is not looked at.
    if (!item.is_object() || (item.has("enabled") && !item["enabled"].flag())) return;
    // A single object may stand for a list of them.
    for (const KeyNode* child : node.ordered.empty() && node.item ? node.item->ordered : node.ordered) {
      const char* name = child->name.c_str();
      if (!item.has(name)) continue;
      const Item member = item[name];
      const Key& key = *child->key;
      if (!key.is_for(kind_.name) && !is_frame(key) &&
          !is_default(key, nlohmann::json::parse(member.dump()), units_))
        member.fail("is of " + things_of(key) + ", this is a scene of " + kind_.things + "; " + cure(key));
      refuse(*child, member);
    }
  }

  void refuse_materials(const Item& materials) const {
    const std::vector<std::string> own = kind_.materials();
    for (const Item& entry : materials.is_object() ? std::vector{materials} : materials.items()) {
      const std::string type = entry["type"].text();
      if (std::ranges::count(own, type) > 0) continue;
      for (const SceneKind* other : kinds_)
        if (std::ranges::count(other->materials(), type) > 0)
          entry["type"].fail("is of " + std::string(other->things) + ", this is a scene of " + kind_.things +
                             "; " +
                             (own.empty() ? "leave the material out" : "take " + list_names(own, "or")) +
                             ", or " + write_solver(other->name));
    }
  }

private:
  static std::string write_solver(const std::string& name) {
    return "write \"solver\": {\"type\": \"" + name + "\"}";
  }
  std::string things_of(const Key& key) const {
    std::vector<std::string> things;
    for (const SceneKind* kind : kinds_)
      if (key.is_for(kind->name)) things.push_back(kind->things);
    return list_names(things, "and");
  }
  std::string cure(const Key& key) const {
    if (const AbsentKey* absent = find_absent(kind_, key.pattern)) return absent->instead;
    return "leave it out, or " + write_solver(key.solvers.front());
  }

  const std::vector<const SceneKind*>& kinds_;
  const SceneKind& kind_;
  const UnitSystem& units_;
};

} // namespace

const char* keep(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text)).c_str();
}

SceneFormat::SceneFormat(std::vector<const SceneKind*> kinds)
    : kinds_(std::move(kinds)),
      sections_(merged_sections(kinds_, rows_, solvers_)), table_{"scene", scene_page, sections_,
                                                                  build_key_tree(sections_)} {}

OptionNames SceneFormat::option_names() const {
  OptionNames names(shared_options.begin(), shared_options.end());
  for (const SceneKind* kind : kinds_)
    for (const auto& [option, key] : kind->options) {
      const bool is_new = names.emplace(option, key).second;
      RECOIL_ASSERT(is_new);
    }
  return names;
}

const SceneKind& SceneFormat::kind(std::string_view name) const {
  const auto found = std::ranges::find(kinds_, name, &SceneKind::name);
  RECOIL_ASSERT(found != kinds_.end());
  return **found;
}

void SceneFormat::refuse_absent_keys(const SceneKind& kind, const Item& root, const UnitSystem& units) const {
  const AbsentKeys absent(kinds_, kind, units);
  absent.refuse_materials(root["materials"]);
  absent.refuse(table_.tree, root);
}

std::string scene_json_schema(const SceneFormat& format) { return json_schema(format.keys()); }

std::string scene_markdown(const SceneFormat& format) { return markdown(format.keys()); }

void set_bound_members(const KeyTable& table, const Item& root, Scene& scene) {
  const auto set = [&](const Key& key) {
    Item item = root;
    std::istringstream names(std::string(key.pattern).substr(1));
    for (std::string name; std::getline(names, name, '/');) {
      if (!item.has(name.c_str())) {
        if (key.unit != nullptr) key.member->scale(scene, scene.units.per(key.unit));
        return;
      }
      item = item[name.c_str()];
    }
    key.member->set(scene, item);
  };
  for (const KeySection& section : table.sections)
    for (const Key& key : section.keys)
      if (key.member != nullptr && key.is_for(scene.solver)) set(key);
}

} // namespace recoil::app
