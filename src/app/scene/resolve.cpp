#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>

#include "recoil/app/scene/document.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/expression.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string shorten(const json& value) {
  auto text = value.dump();
  if (text.size() > 60) text = text.substr(0, 57) + "..";
  return text;
}

/// Files and folders may have names that JSON cannot hold.
bool is_utf8(const std::string& text) {
  try {
    return !json(text).dump().empty();
  } catch (const json::type_error&) {
    return false;
  }
}

bool is_integer(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= 2147483647u;
  if (value.is_number_integer()) return value.get<std::int64_t>() >= -2147483648LL;
  if (!value.is_number_float()) return false;
  const auto number = value.get<double>();
  return number == std::floor(number) && std::abs(number) <= 2147483647.0;
}

bool is_quantity(const json& value, unsigned types) {
  return value.is_object() && value.contains("value") && (types & (number | integer | expression));
}

bool is_name(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
}

/// A number, formula or list of numbers times a factor; what is neither stays.
json times(json value, double factor) {
  if (factor == 1) return value;
  if (value.is_number()) return json(value.get<double>() * factor);
  if (value.is_string()) return json(json(factor).dump() + "*(" + value.get<std::string>() + ")");
  if (value.is_array())
    for (json& entry : value)
      if (entry.is_number()) entry = entry.get<double>() * factor;
  return value;
}

/// Does the JSON type of a value (not a list) fit?
bool fits(const json& value, unsigned types) {
  if (types & anything) return true;
  if (value.is_boolean()) return types & boolean;
  if (value.is_number()) return types & (number | expression) || (types & integer && is_integer(value));
  if (value.is_null()) return types & null;
  if (value.is_string()) return types & (text | path | folder | expression);
  if (value.is_object()) return types & (object | element_data) || is_quantity(value, types);
  return false;
}

class Resolver {
public:
  Resolver(Document& document, const KeyTable& table, std::vector<std::string>& notes)
      : document_(document), table_(table), notes_(notes) {}

  void run() {
    read_units();
    document_.root = resolve_object(table_.tree, document_.root, "");
    if (problems_.empty()) return;
    std::string all;
    for (std::size_t i = 0; i < problems_.size() && i < 10; ++i) all += (i ? "\n" : "") + problems_[i];
    if (problems_.size() > 10) all += "\nand " + std::to_string(problems_.size() - 10) + " more";
    throw InputError(all);
  }

private:
  /// The units of all numbers without one.
  void read_units() {
    if (!document_.root.is_object()) return;
    const auto given = document_.root.find("units");
    if (given == document_.root.end() || !given->is_object() || !table_.tree.children.contains("units"))
      return;
    const auto read = [&](const char* key, std::size_t exponent, std::string& name) {
      const auto entry = given->find(key);
      if (entry == given->end() || !entry->is_string()) return;
      Unit wanted;
      wanted.exponents[exponent] = 1;
      const auto unit = parse_unit(entry->get<std::string>());
      if (unit && unit->exponents == wanted.exponents && is_name(entry->get<std::string>()))
        name = entry->get<std::string>();
      else
        problem(std::string("/units/") + key,
                "is no unit of " + std::string(key) + ": " + entry->dump() + "; write one such as " +
                    std::array{"m, cm, mm, um or in", "kg, g, mg or t", "s, ms, us or h"}[exponent]);
    };
    read("length", 0, document_.units.length);
    read("mass", 1, document_.units.mass);
    read("time", 2, document_.units.time);
  }

  void problem(const std::string& pointer, const std::string& what) {
    problems_.push_back(document_.locations.describe(pointer) + ": " + what);
  }

  json resolve(const KeyNode& node, json value, const std::string& pointer) {
    const Key& key = *node.key;
    if (key.mark == Mark::ignored && node.children.empty())
      notes_.push_back(document_.locations.describe(pointer) + ": ignored: " + key.reason);
    if (key.mark == Mark::refused) return resolve_refused(key, std::move(value), pointer);
    if (key.types & anything) return value;
    if (value.is_array()) {
      if (!node.is_list()) return mismatch(key, std::move(value), pointer);
      return resolve_list(node, std::move(value), pointer);
    }
    const unsigned alone = key.types & ~(list | one_or_list | one_or_several);
    if (fits(value, alone)) return resolve_single(node, key, std::move(value), pointer);
    if (key.types & one_or_several && fits(value, key.items))
      return resolve(*node.item, std::move(value), pointer);
    if (key.types & one_or_list && fits(value, key.items)) {
      document_.locations.wrapped(pointer);
      json wrapped = json::array();
      wrapped.push_back(std::move(value));
      return resolve_list(node, std::move(wrapped), pointer);
    }
    return mismatch(key, std::move(value), pointer);
  }

  json mismatch(const Key& key, json value, const std::string& pointer) {
    auto what = "must be " + describe_types(key) + ", is " + shorten(value);
    if (key.reason) what += std::string(" (") + key.reason + ")";
    problem(pointer, what);
    return value;
  }

  json resolve_refused(const Key& key, json value, const std::string& pointer) {
    for (const auto& choice : split_choices(key.choices))
      if (value == json::parse(choice)) return value;
    auto what = "is not supported as " + shorten(value) + ": " + key.reason;
    const auto choices = split_choices(key.choices);
    what += choices.empty() ? "; leave it out" : "; leave it out or write " + choices.front();
    problem(pointer, what);
    return value;
  }

  json resolve_list(const KeyNode& node, json value, const std::string& pointer) {
    const auto [low, high] = node.key->length;
    const long size = value.size();
    if (size < low || size > high) {
      auto what = "must be " + describe_types(*node.key) + ", has " + std::to_string(size) + " entries";
      if (node.key->reason) what += std::string(" (") + node.key->reason + ")";
      problem(pointer, what);
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      value[i] = resolve(*node.item, value[i], pointer + "/" + std::to_string(i));
    return value;
  }

  json resolve_single(const KeyNode& node, const Key& key, json value, const std::string& pointer) {
    if (is_quantity(value, key.types)) {
      const auto unit = value.value("unit", json(""));
      const bool others = value.size() > 1 + value.count("unit");
      const char* wanted = unit_of(key, pointer);
      const auto factor = others || !unit.is_string()
                              ? std::optional<double>()
                              : unit_factor(unit.get<std::string>(), wanted, document_.units);
      if (!factor) {
        problem(pointer, "a number with a unit is written {\"value\": 1, \"unit\": \"" +
                             std::string(wanted ? wanted : "") +
                             "\"} here, or in a unit that measures the same, is " + shorten(value));
        return value;
      }
      value = times(json(value["value"]), *factor);
      if (value.is_object() || !fits(value, key.types)) return mismatch(key, std::move(value), pointer);
    }
    if (value.is_object()) {
      if (key.types & element_data) return resolve_element_data(std::move(value), pointer);
      return resolve_object(node, value, pointer);
    }
    if (value.is_string() && key.types & (path | folder))
      return resolve_path(value.get<std::string>(), key.types, pointer);
    if (value.is_number_float() && key.types & integer && !(key.types & number))
      value = json(std::lround(value.get<double>()));
    check_value(key, value, pointer);
    return value;
  }

  /// The unit of a number, which another key of its object may decide.
  const char* unit_of(const Key& key, const std::string& pointer) const {
    if (!key.unit_by) return key.unit;
    for (json::json_pointer at(pointer); !at.empty();) {
      at = at.parent_pointer();
      // Lists that are not written out are not in the file.
      if (!document_.root.contains(at)) continue;
      const json& around = document_.root.at(at);
      const auto decides = around.is_object() ? around.find(key.unit_by) : around.end();
      if (decides != around.end() && decides->is_string()) return key.unit_for(decides->get<std::string>());
    }
    return key.unit;
  }

  void check_value(const Key& key, const json& value, const std::string& pointer) {
    std::optional<double> constant;
    if (value.is_number()) constant = value.get<double>();
    if (value.is_string() && key.types & expression) {
      try {
        const Expression formula(value.get<std::string>());
        if (formula.is_constant()) constant = formula({});
      } catch (const InputError& error) {
        problem(pointer, error.what() + in_formula_folder(value.get<std::string>()));
      }
    }
    if (constant && !std::isfinite(*constant)) problem(pointer, "must be finite, is " + shorten(value));
    if (constant && !key.range.contains(*constant))
      problem(pointer, "must be " + key.range.describe() + ", is " + shorten(value));
    if (key.choices && !(value.is_number() && key.takes_text_or_number())) check_choices(key, value, pointer);
  }

  std::string in_formula_folder(const std::string& formula) const {
    std::error_code error;
    return fs::exists(document_.folder / formula, error) ? " (files of values are not supported)" : "";
  }

  void check_choices(const Key& key, const json& value, const std::string& pointer) {
    std::vector<std::string> names;
    std::string all;
    for (const auto& choice : split_choices(key.choices)) {
      const auto allowed = json::parse(choice);
      if (allowed == value) return;
      if (allowed.is_string()) names.push_back(allowed.get<std::string>());
      all += (all.empty() ? "" : ", ") + choice;
    }
    const std::string number = key.takes_text_or_number() ? "a number or " : "";
    auto what = "must be " + number + "one of " + all + ", is " + shorten(value);
    if (value.is_string()) what += did_you_mean(value.get<std::string>(), names);
    if (key.reason) what += std::string(" (") + key.reason + ")";
    problem(pointer, what);
  }

  json resolve_path(const std::string& written, unsigned types, const std::string& pointer) {
    const auto resolved = (document_.folder / written).lexically_normal();
    if (!is_utf8(resolved.string())) {
      problem(pointer, "the path " + resolved.string() +
                           " is not UTF-8, so that scene.json could not name it; rename its folder or file");
      return written;
    }
    std::error_code error;
    const bool found = (types & path && fs::is_regular_file(resolved, error)) ||
                       (types & folder && fs::is_directory(resolved, error));
    if (!skipped_ && !found) {
      std::vector<std::string> names;
      // What could stand for it: no pipe or device, and no file for a folder.
      for (const auto& entry : fs::directory_iterator(resolved.parent_path(), error))
        if (std::error_code ignored; (types & path && fs::is_regular_file(entry.path(), ignored)) ||
                                     (types & folder && fs::is_directory(entry.path(), ignored)))
          names.push_back(entry.path().filename().string());
      auto what = (types & folder ? "no such file or folder: " : "no such file: ") + resolved.string();
      what +=
          error ? "; its folder does not exist either" : did_you_mean(resolved.filename().string(), names);
      if (fs::path(written).is_relative())
        what += std::string("; relative paths start from the folder of the ") + table_.kind +
                (table_.inherits() ? " that is run" : "");
      problem(pointer, what);
    }
    return resolved.string();
  }

  json resolve_element_data(json value, const std::string& pointer) {
    if (value.size() != 2 || !value.contains("file") || !value.contains("dataset") ||
        !value["file"].is_string() || !value["dataset"].is_string()) {
      problem(pointer, "values from a file are written {\"file\": \"f.h5\", \"dataset\": \"/E\"}, is " +
                           shorten(value));
      return value;
    }
    value["file"] = resolve_path(value["file"].get<std::string>(), path, pointer + "/file");
    return value;
  }

  json resolve_object(const KeyNode& node, const json& value, const std::string& pointer) {
    const bool around = skipped_;
    if (node.children.contains("enabled") && value.value("enabled", json(true)) == json(false))
      skipped_ = true;
    auto resolved = resolve_members(node, value, pointer);
    skipped_ = around;
    return resolved;
  }

  json resolve_members(const KeyNode& node, const json& value, const std::string& pointer) {
    json resolved = json::object();
    for (const auto& [name, member] : value.items()) {
      const auto child = pointer + "/" + escape_pointer(name);
      if (const auto it = node.children.find(name); it != node.children.end())
        resolved[name] = resolve(*it->second, member, child);
      else
        problem(child, unknown_key(node, name));
    }
    for (const auto* child : node.ordered) {
      if (resolved.contains(child->name)) continue;
      if (child->key->required)
        problem(pointer,
                "'" + child->name + "' is missing: " + describe_types(*child->key) + ". " + child->key->doc);
      else if (child->key->fallback)
        resolved[child->name] =
            resolve(*child, default_of(*child->key, document_.units), pointer + "/" + child->name);
    }
    return resolved;
  }

  static std::string unknown_key(const KeyNode& node, const std::string& name) {
    std::vector<std::string> names;
    std::string all;
    for (const auto* child : node.ordered) {
      names.push_back(child->name);
      all += (all.empty() ? "" : ", ") + child->name;
    }
    const auto hint = did_you_mean(name, names);
    if (!hint.empty()) return "unknown key" + hint;
    return names.empty() ? "unknown key; nothing may stand here" : "unknown key; known here: " + all;
  }

  Document& document_;
  const KeyTable& table_;
  std::vector<std::string>& notes_;
  std::vector<std::string> problems_;
  bool skipped_ = false; ///< inside an object that is not `enabled`: its files need not exist
};

} // namespace

json default_of(const Key& key, const UnitSystem& units) {
  json value = json::parse(key.fallback);
  return key.unit && !units.is_si() ? times(std::move(value), units.per(key.unit)) : value;
}

void resolve_against_keys(Document& document, const KeyTable& table, std::vector<std::string>& notes) {
  Resolver(document, table, notes).run();
}

} // namespace recoil::app
