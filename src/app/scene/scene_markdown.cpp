#include "app/scene/keys.hpp"
#include "recoil/app/scene/scene_documentation.hpp"

namespace recoil::app {
namespace {

/// Text that may stand in a cell of a table.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
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

std::string scene_markdown() {
  std::string text =
      "# Scene files\n\n"
      "<!-- Written by `recoil schema scene --markdown` from the table of keys; a test compares. -->\n\n"
      "A scene is one JSON object with the key names and meaning of PolyFEM, plus recoil's own. Every key is "
      "checked: an\n"
      "unknown key, a wrong type, a value out of range or a missing file ends the program with exit code 2 "
      "and a message\n"
      "that names the file, the line, the JSON pointer and the nearest valid name. `recoil schema scene` "
      "prints the same\n"
      "table as a JSON Schema for editors.\n\n"
      "- `*` stands for any entry of a list, `{a, b}` for any of these names.\n"
      "- Where a list is expected, an object or value alone stands for a list of one where the type says "
      "so.\n"
      "- Units are SI. A number may be written `{\"value\": 2e5, \"unit\": \"Pa\"}`; other units are "
      "refused, not converted.\n"
      "- A formula is a text of `x, y, z` (rest position after transformation, z = 0 in 2D) and `t`. "
      "Operators `+ - * / % ^`;\n"
      "  `^` groups from the left and binds weaker than a sign (`-x^2` is `(-x)^2`); `log` is base 10, `ln` "
      "natural; `if(c, a, b)`\n"
      "  is a when c >= 0. Functions: `abs acos asin atan atan2 ceil cos cosh exp fac floor ln log log10 ncr "
      "npr pow sin sinh sqrt\n"
      "  tan tanh min max sign deg2rad smoothstep half_smoothstep smooth_abs rotate_2D_x rotate_2D_y compare "
      "if`, constants\n"
      "  `pi` and `e`.\n"
      "- *Ignored* keys are PolyFEM's and do not change the answer; they are accepted with a debug note. "
      "*Refused* keys would\n"
      "  give a wrong answer if they were accepted in silence.\n"
      "- In 2D a third component of a value may stand if it is 0.\n";
  for (const auto& section : scene_key_sections()) {
    text += "\n## " + std::string(section.title) + "\n\n";
    if (*section.introduction) text += std::string(section.introduction) + "\n\n";
    text += "| key | type | default | unit, range, values | meaning |\n|---|---|---|---|---|\n";
    for (const auto& key : section.keys)
      text += "| " + cell(shown_key(key.pattern)) + " | " + cell(describe_types(key)) + " | " +
              cell(shown_default(key)) + " | " + cell(shown_values(key)) + " | " + cell(shown_meaning(key)) +
              " |\n";
  }
  return text;
}

} // namespace recoil::app
