#include "recoil/app/scene/keys.hpp"

#include <cmath>
#include <sstream>

#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

KeyNode& descend(KeyNode& root, const std::string& pattern) {
  KeyNode* node = &root;
  std::istringstream parts(pattern.substr(1));
  for (std::string part; std::getline(parts, part, '/');) {
    if (part == "*") {
      if (!node->item) node->item = std::make_unique<KeyNode>();
      node = node->item.get();
    } else {
      auto& child = node->children[part];
      if (!child) {
        child = std::make_unique<KeyNode>();
        child->name = part;
        node->ordered.push_back(child.get());
      }
      node = child.get();
    }
  }
  return *node;
}

/// Else they are of the text that may stand in place of a list.
bool has_choices_of_items(const Key& key) {
  return key.mark != Mark::refused && (!(key.types & text) || key.items & text);
}

/// Gives a row to the items of every list that has none, from what the row of the list says of them.
void complete_items(KeyNode& node) {
  if (node.key && node.is_list()) {
    if (!node.item) node.item = std::make_unique<KeyNode>();
    if (!node.item->key) {
      node.item->scalar_item = Key{.pattern = node.key->pattern,
                                   .types = node.key->items,
                                   .range = node.key->range,
                                   .unit = node.key->unit,
                                   .unit_by = node.key->unit_by,
                                   .unit_for = node.key->unit_for,
                                   .choices = has_choices_of_items(*node.key) ? node.key->choices : nullptr,
                                   .reason = node.key->reason};
      node.item->key = &node.item->scalar_item;
    }
  }
  if (node.item) complete_items(*node.item);
  for (auto& [name, child] : node.children) {
    RECOIL_ASSERT(child->key);
    complete_items(*child);
  }
}

std::string number_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string describe_length(const std::array<int, 2>& length) {
  const auto [low, high] = length;
  if (high >= 1 << 30) return low == 0 ? "" : "at least " + std::to_string(low) + " ";
  if (low == high) return std::to_string(low) + " ";
  return std::to_string(low) + " to " + std::to_string(high) + " ";
}

std::string describe_set(unsigned types, bool plural) {
  static constexpr std::pair<unsigned, std::array<const char*, 2>> names[] = {
      {boolean, {"true or false", "booleans"}},
      {integer, {"integer", "integers"}},
      {number, {"number", "numbers"}},
      {expression, {"number or formula", "numbers or formulas"}},
      {element_data, {"{\"file\", \"dataset\"}", "{\"file\", \"dataset\"}"}},
      {text, {"text", "texts"}},
      {path, {"file name", "file names"}},
      {folder, {"folder", "folders"}},
      {object, {"object", "objects"}},
      {list, {"list", "lists"}},
      {null, {"null", "null"}},
      {anything, {"anything", "anything"}},
  };
  std::string described;
  for (const auto& [bit, name] : names)
    if (types & bit) described += (described.empty() ? "" : " or ") + std::string(name[plural ? 1 : 0]);
  return described;
}

} // namespace

bool Key::is_for(std::string_view solver) const {
  return solvers.empty() || std::ranges::count(solvers, solver) > 0;
}

bool Range::is_everything() const { return std::isinf(min) && std::isinf(max); }

std::string Range::describe() const {
  const bool bounded_above = std::isfinite(max) && max < 2147483647;
  if (is_everything()) return "";
  if (!bounded_above) return (min_open ? "> " : ">= ") + number_text(min);
  if (min_open && max_open)
    return "between " + number_text(min) + " and " + number_text(max) + " (both excluded)";
  if (min_open) return "> " + number_text(min) + " and <= " + number_text(max);
  return number_text(min) + " to " + number_text(max);
}

std::vector<std::string> expand_braces(const std::string& pattern) {
  const auto open = pattern.find('{');
  if (open == std::string::npos) return {pattern};
  const auto close = pattern.find('}', open);
  RECOIL_ASSERT(close != std::string::npos);
  std::vector<std::string> expanded;
  std::istringstream names(pattern.substr(open + 1, close - open - 1));
  for (std::string name; std::getline(names, name, ',');)
    for (const auto& rest : expand_braces(pattern.substr(close + 1)))
      expanded.push_back(pattern.substr(0, open) + name + rest);
  return expanded;
}

KeyNode build_key_tree(std::span<const KeySection> sections) {
  static constexpr Key whole{.pattern = "", .types = object};
  KeyNode root;
  root.key = &whole;
  for (const auto& section : sections)
    for (const auto& key : section.keys)
      for (const auto& pattern : expand_braces(key.pattern)) descend(root, pattern).key = &key;
  complete_items(root);
  return root;
}

std::string describe_types(const Key& key) {
  const unsigned alone = key.types & ~(one_or_list | one_or_several | list);
  std::string described = describe_set(alone, false);
  if (key.types & (list | one_or_list | one_or_several)) {
    if (key.types & (one_or_list | one_or_several) && !(alone & key.items))
      described += (described.empty() ? "" : " or ") + describe_set(key.items & ~list, false);
    described += (described.empty() ? "" : " or ") + std::string("list of ") + describe_length(key.length) +
                 describe_set(key.items, true);
  }
  return described;
}

std::vector<std::string> split_choices(const char* choices) {
  std::vector<std::string> split;
  if (!choices) return split;
  const std::string text(choices);
  int depth = 0;
  std::string current;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      split.push_back(current);
      current.clear();
    } else if (c != ' ' || !current.empty()) {
      current += c;
    }
  }
  if (!current.empty()) split.push_back(current);
  return split;
}

std::optional<double> unit_factor(const std::string& given, const char* expected, const UnitSystem& units) {
  const auto unit = parse_unit(given), wanted = parse_unit(expected ? expected : "");
  if (!unit || !wanted || unit->exponents != wanted->exponents) return {};
  return units.per(*unit);
}

} // namespace recoil::app
