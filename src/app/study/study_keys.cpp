#include "app/study/study_keys.hpp"

#include <map>

#include <fmt/format.h>

#include "app/study/objectives/objective_type.hpp"
#include "app/study/parameters/parameter_kind.hpp"
#include "recoil/app/scene/key_documentation.hpp"
#include "recoil/app/study/study_documentation.hpp"

namespace recoil::app {
namespace {

std::string code_list(const std::vector<std::string>& names, const std::vector<std::string>& needed) {
  std::string list;
  for (const auto& name : names) {
    list += (list.empty() ? "`" : ", `") + name + "`";
    for (const auto& other : needed)
      if (other == name) list += " (required)";
  }
  return list;
}

std::string shown_components(Components components) {
  static const std::map<Components, const char*> shown{{Components::one, "1"},
                                                       {Components::vector, "d"},
                                                       {Components::spin, "1 in 2D, 3 in 3D"},
                                                       {Components::basis, "of the basis"}};
  return shown.at(components);
}

std::string quantity_table() {
  std::string text =
      "| quantity | unit | components | values | keys beside the common ones | `per` | what it stands for |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const ParameterKind& row : parameter_kinds()) {
    std::string name = "`" + std::string(row.name) + "`";
    if (row.parameter && row.parameter->constant->max_terms > 0) {
      // One row for all terms of a list.
      if (row.parameter->term > 0) continue;
      const potentials::LawConstant& list = *row.parameter->constant;
      name += fmt::format(" .. `{}_{}`", list.quantity, list.max_terms);
    }
    std::vector<std::string> per;
    for (const Per one : row.per) per.push_back(name_of(one));
    const Range range{row.min, row.max, row.min_open, row.max_open};
    text += "| " + name + " | " + (row.unit ? row.unit : "") + " | " + shown_components(row.components) +
            " | " + range.describe() + " | " + code_list(row.takes, row.needs) + " | " +
            (per.size() > 1 ? code_list(per, {}) : "") + " | " + table_cell(row.doc) + " |\n";
  }
  return text;
}

std::string objective_table() {
  std::string text = "| type | keys beside the common ones | value |\n|---|---|---|\n";
  for (const ObjectiveType& row : objective_types())
    text += "| `" + std::string(row.name) + "` | " + code_list(row.takes(), row.needs()) + " | " +
            table_cell(row.doc) + " |\n";
  return text;
}

std::span<const KeySection> study_sections() {
  static const KeySection sections[] = {
      {"experiments", experiment_keys()}, {"parameters", parameter_keys()}, {"objectives", objective_keys()},
      {"markers", marker_keys()},         {"sweep", sweep_keys()},          {"optimizer", optimizer_keys()},
  };
  return sections;
}

} // namespace

extern const char* const study_page; // of docs/study.md.in

const KeyTable& study_keys() {
  static const KeyTable table{"study", study_page, study_sections(), build_key_tree(study_sections())};
  return table;
}

std::string study_json_schema() { return json_schema(study_keys()); }

std::string study_markdown() {
  std::string page = markdown(study_keys());
  fill_in(page, "quantities", quantity_table());
  fill_in(page, "objective_types", objective_table());
  return page;
}

} // namespace recoil::app
