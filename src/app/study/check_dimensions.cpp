#include <algorithm>

#include "app/study/objectives/objective_type.hpp"
#include "app/study/parameters/parameter_kind.hpp"

namespace recoil::app {

void require_count(std::size_t given, int expected, int dim, const std::string& where,
                   const std::string& what) {
  if (std::cmp_not_equal(given, expected))
    throw InputError(where, what + " needs " + std::to_string(expected) +
                                (expected == 1 ? " component in " : " components in ") + std::to_string(dim) +
                                "D, has " + std::to_string(given));
}

namespace {

void check_parameter_dimension(const ParameterSpec& parameter, int dim) {
  const ParameterKind& quantity = *parameter.kind;
  if (quantity.components != Components::basis && !parameter.initial_file)
    require_count(parameter.initial.size(), num_components(quantity.components, dim), dim,
                  parameter.where.of(parameter.tie ? "tie" : "initial"),
                  std::string("the initial value of ") + quantity.name);
  if (parameter.prior)
    for (const auto* list : {&parameter.prior->mean, &parameter.prior->sd})
      if (list->size() > 1)
        require_count(list->size(), num_components(quantity.components, dim), dim,
                      parameter.where.of("prior"), std::string("the prior of ") + quantity.name);
  if (parameter.basis && parameter.basis->kind == ShapeBasis::Kind::box)
    require_count(parameter.basis->box.size(), dim, dim, parameter.where.of("basis"), "a box");
}

/// A marker belongs to an experiment that looks at markers; which one, its body tells.
void check_marker_dimensions(const Study& study, std::span<const int> dims) {
  std::vector<int> observed;
  for (const auto& objective : study.objectives)
    if (objective->type->uses_markers) observed.push_back(dims[objective->experiment]);
  for (const MarkerSpec& marker : study.markers)
    if (!observed.empty() &&
        std::ranges::find(observed, static_cast<int>(marker.rest.size())) == observed.end())
      require_count(marker.rest.size(), observed.front(), observed.front(), marker.where.of("rest"),
                    "the position of a marker");
}

} // namespace

void check_study_dimensions(const Study& study, std::span<const int> dims) {
  RECOIL_ASSERT(dims.size() == study.experiments.size());
  for (const ParameterSpec& parameter : study.parameters)
    for (const int index : parameter.experiments) check_parameter_dimension(parameter, dims[index]);
  for (const auto& objective : study.objectives) objective->check_dimension(dims[objective->experiment]);
  check_marker_dimensions(study, dims);
}

} // namespace recoil::app
