#include <algorithm>

#include "recoil/app/study/kinds/parameter_kinds.hpp"

namespace recoil::app {

/// The rows of the sources of this folder.
std::vector<ParameterKind> material_parameters(), friction_parameters(), adhesion_parameters(),
    initial_state_parameters(), initial_nodes_parameters(), prescribed_motion_parameters(),
    macro_strain_parameters(), particle_rotation_parameters(), load_parameters(), bond_constants_parameters(),
    shape_parameters();

namespace {

void add_row(ParameterKind row, std::vector<ParameterKind>& rows) {
  const auto kind = std::ranges::find(rows, std::string(row.name), &ParameterKind::name);
  if (kind == rows.end()) return rows.push_back(std::move(row));
  if (!row.takes.empty()) kind->takes = row.takes;
  if (!row.needs.empty()) kind->needs = row.needs;
  if (!row.doc.empty()) kind->doc = row.doc;
  kind->per.insert(kind->per.end(), row.per.begin(), row.per.end());
  kind->later.push_back(std::move(row));
}

} // namespace

/// In the order of docs/study.md.
std::span<const ParameterKind> parameter_kinds() {
  static const std::vector<ParameterKind> all = [] {
    std::vector<ParameterKind> rows;
    for (const auto group :
         {material_parameters, friction_parameters, adhesion_parameters, initial_state_parameters,
          initial_nodes_parameters, prescribed_motion_parameters, macro_strain_parameters,
          particle_rotation_parameters, load_parameters, bond_constants_parameters, shape_parameters})
      for (ParameterKind& row : group()) add_row(std::move(row), rows);
    return rows;
  }();
  return all;
}

const ParameterKind* find_parameter_kind(const std::string& name) {
  for (const ParameterKind& row : parameter_kinds())
    if (name == row.name) return &row;
  return nullptr;
}

bool has_parameter(const ExperimentScene& at, const std::string& kind) {
  return std::ranges::any_of(at.study.parameters, [&](const ParameterSpec& parameter) {
    return parameter.kind->name == kind && parameter.acts_in(at.index);
  });
}

std::vector<std::string> cell_keys() { return {"body", "region", "per"}; }

} // namespace recoil::app
