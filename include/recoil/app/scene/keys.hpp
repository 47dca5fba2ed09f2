#pragma once

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recoil/base/units.hpp"

/// The tables of keys: the one place that says what a scene or a study may hold. The checker, the defaults,
/// the JSON Schemas, docs/scene.md and docs/study.md all come from them.
namespace recoil::app {

/// What a value may be; a set of bits.
enum KeyType : unsigned {
  boolean = 1,
  integer = 2,
  number = 4,
  text = 8,
  path = 16,         ///< file, resolved against the folder of the file that names it; must exist
  expression = 32,   ///< number or formula of x, y, z, t
  element_data = 64, ///< {"file": .., "dataset": ..}: one value per element
  object = 128,
  list = 256,
  one_or_list = 512,     ///< list, or one item standing alone for a list of one
  one_or_several = 1024, ///< one object or a list of them, with different meaning: kept as given
  anything = 2048,
  folder = 4096, ///< as `path`, a folder
  null = 8192
};

enum class Mark {
  honoured, ///< changes the answer
  ignored,  ///< PolyFEM knows it, recoil has no use for it: accepted with a note
  refused   ///< would give a wrong answer: an error unless the value is one of `choices`
};

struct Range {
  double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
  bool min_open = false, max_open = false;

  bool contains(double value) const {
    return (min_open ? value > min : value >= min) && (max_open ? value < max : value <= max);
  }
  bool is_everything() const;
  /// "> 0", "1 to 6", "between -1 and 0.5 (both excluded)"; empty if everything.
  std::string describe() const;
};

inline constexpr Range positive{0, std::numeric_limits<double>::infinity(), true, false};
inline constexpr Range non_negative{0, std::numeric_limits<double>::infinity(), false, false};
constexpr Range from_to(double min, double max) { return {min, max, false, false}; }
constexpr Range at_least(double min) { return {min, std::numeric_limits<double>::infinity(), false, false}; }

struct BoundMember;

/// One row. In lists of values, `range`, `unit` and `choices` speak of the items.
struct Key {
  const char* pattern; ///< JSON pointer; `*` = any list item, `{a,b}` = any of these names
  unsigned types = 0;
  unsigned items = 0;                                               ///< types of the items of a list
  std::array<int, 2> length = {0, std::numeric_limits<int>::max()}; ///< of a list
  bool required = false;
  const char* fallback = nullptr;      ///< default as JSON text, filled in; nullptr = none
  const BoundMember* member = nullptr; ///< brings types, default and choices of its own
  bool filled_in = true;               ///< false: the default of `member` is for the documentation only
  const char* implied = nullptr; ///< what absence means, for the documentation, when nothing is filled in
  Range range = {};
  const char* unit = nullptr;    ///< in SI, as `fallback`; numbers may be written {"value": v, "unit": "mm"}
  const char* unit_by = nullptr; ///< key of the same object whose text decides the unit, by unit_for
  const char* (*unit_for)(const std::string& text) = nullptr; ///< nullptr for a number without unit
  /// JSON list of the values allowed (refused: tolerated); of the texts where numbers or lists of numbers may
  /// stand, too.
  const char* choices = nullptr;
  Mark mark = Mark::honoured;
  const char* reason = nullptr; ///< why refused; hint added to messages about a wrong type
  /// Names of the solvers that have the key, filled in by SceneFormat; scenes of others refuse all but the
  /// default. Empty: all have it.
  std::span<const std::string> solvers = {};
  const char* doc = "";

  bool is_for(std::string_view solver) const;
  bool takes_text_or_number() const { return types & text && types & (integer | number); }
};

/// A group of rows; its table stands in the documentation where the page says @name@.
struct KeySection {
  const char* name;
  std::span<const Key> keys;
};

/// The rows as a tree: what may stand at one place of a file.
struct KeyNode {
  const Key* key = nullptr;
  std::string name;
  std::map<std::string, std::unique_ptr<KeyNode>> children; ///< by name, in alphabetical order
  std::vector<const KeyNode*> ordered;                      ///< the same in the order of the table
  std::unique_ptr<KeyNode> item;                            ///< of list items
  Key scalar_item; ///< row made up for items that have none of their own

  bool is_list() const { return key->types & (list | one_or_list | one_or_several); }
};

/// Everything that one kind of file may hold.
struct KeyTable {
  const char* kind; ///< "scene", "study": for messages and titles
  const char* page; ///< `docs/<kind>.md.in`
  std::span<const KeySection> sections;
  KeyNode tree;

  /// Files of this kind may be based on another one (`common`, `patch`, `root_path`).
  bool inherits() const { return tree.children.contains("common"); }
};

/// The tree of some sections. @pre patterns name their parents' rows.
KeyNode build_key_tree(std::span<const KeySection> sections);

/// All patterns that a pattern with `{a,b}` stands for.
std::vector<std::string> expand_braces(const std::string& pattern);

/// "number or list of 2 to 3 numbers": for messages and the documentation.
std::string describe_types(const Key& key);

/// Choices as a list of JSON texts.
std::vector<std::string> split_choices(const char* choices);

/// By what a number in the unit `given` ("kg/m/s^2", "MPa") is multiplied to stand in `units`; empty where
/// that is no unit of what `expected` (nullptr: no unit) measures.
std::optional<double> unit_factor(const std::string& given, const char* expected, const UnitSystem& units);

/// JSON Schema (draft 2020-12) of the files that the table describes.
std::string json_schema(const KeyTable& table);

/// Reference of all keys: the page of the table with a table of rows for every section.
std::string markdown(const KeyTable& table);

/// Puts `text` in the place of the line `@name@` of a page. @pre there is one.
void fill_in(std::string& page, const std::string& name, const std::string& text);

/// Text that may stand in a cell of a Markdown table.
std::string table_cell(const std::string& text);

} // namespace recoil::app
