#include "recoil/app/scene/key_documentation.hpp"

#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

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
