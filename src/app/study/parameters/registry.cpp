#include <algorithm>
#include <map>

#include "app/study/parameters/checks.hpp"
#include "recoil/base/error.hpp"

/// All groups of kinds of parameters in the order of docs/study.md: ROW(name) for name_parameters() of a
/// source of this folder.
#define RECOIL_PARAMETERS(ROW)                                                                               \
  ROW(material)                                                                                              \
  ROW(friction)                                                                                              \
  ROW(initial_state)                                                                                         \
  ROW(prescribed_motion)                                                                                     \
  ROW(load)                                                                                                  \
  ROW(shape)

namespace recoil::app {

#define RECOIL_DECLARE(name) std::vector<ParameterKind> name##_parameters();
RECOIL_PARAMETERS(RECOIL_DECLARE)
#undef RECOIL_DECLARE

std::span<const ParameterKind> parameter_kinds() {
  static const std::vector<ParameterKind> all = [] {
    std::vector<ParameterKind> rows;
#define RECOIL_APPEND(name)                                                                                  \
  for (ParameterKind & row : name##_parameters()) rows.push_back(std::move(row));
    RECOIL_PARAMETERS(RECOIL_APPEND)
#undef RECOIL_APPEND
    return rows;
  }();
  return all;
}

const ParameterKind* find_parameter_kind(const std::string& name) {
  for (const ParameterKind& row : parameter_kinds())
    if (name == row.name) return &row;
  return nullptr;
}

bool ParameterKind::takes_key(const std::string& key) const {
  return std::ranges::find(takes, key) != takes.end();
}

std::vector<std::string> cell_keys() { return {"body", "region", "per"}; }

bool ParameterKind::is_possible(double value) const {
  return (min_open ? value > min : value >= min) && (max_open ? value < max : value <= max);
}

int num_components(Components components, int dim) {
  RECOIL_ASSERT(components != Components::basis);
  if (components == Components::one) return 1;
  return components == Components::spin && dim == 2 ? 1 : dim;
}

const char* name_of(Per per) {
  static const std::map<Per, const char*> names{
      {Per::global, "global"}, {Per::body, "body"}, {Per::element, "element"}, {Per::vertex, "vertex"}};
  return names.at(per);
}

} // namespace recoil::app
