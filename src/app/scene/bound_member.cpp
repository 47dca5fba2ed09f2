#include "recoil/app/scene/bound_member.hpp"

#include <deque>
#include <sstream>

namespace recoil::app {

const EnumNames<StopRule>& names_of(StopRule) {
  static const EnumNames<StopRule> names{{"gradient", StopRule::gradient}, {"step", StopRule::step}};
  return names;
}
const EnumNames<StopNorm>& names_of(StopNorm) {
  static const EnumNames<StopNorm> names{{"L2", StopNorm::l2}, {"Euclidean", StopNorm::euclidean}};
  return names;
}
const EnumNames<OutputField>& names_of(OutputField) {
  static const EnumNames<OutputField> names{{"stress", OutputField::stress},
                                            {"von_mises", OutputField::von_mises},
                                            {"strain_energy", OutputField::strain_energy},
                                            {"contact_force", OutputField::contact_force},
                                            {"friction_force", OutputField::friction_force}};
  return names;
}

const char* keep(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text)).c_str();
}

std::vector<Key> complete_rows(std::span<const Key> rows, const std::string& section) {
  std::vector<Key> complete(rows.begin(), rows.end());
  for (Key& row : complete) {
    if (row.member == nullptr) continue;
    row.types |= row.member->types;
    if (const std::string initial = row.member->initial(); !initial.empty())
      (row.filled_in ? row.fallback : row.implied) = keep(initial);
    if (const std::string choices = row.member->choices(); !choices.empty()) row.choices = keep(choices);
  }
  const std::vector<Key> more = polyfem_rows(section);
  complete.insert(complete.end(), more.begin(), more.end());
  return complete;
}

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
