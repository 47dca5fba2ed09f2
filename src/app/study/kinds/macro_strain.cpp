#include "app/study/kinds/boundary_entries.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

namespace recoil::app {
namespace {

void check_macro_strain(const ExperimentScene& at, const ParameterSpec& parameter) {
  const std::optional<PeriodicEntry>& entry = elements_of(at.scene).periodic;
  if (!entry)
    at.fail(parameter, "macro_strain is not used: the scene has no boundary_conditions/periodic_boundary");
  if (entry->axes || entry->prescribed)
    at.fail(parameter, "macro_strain stands for all entries of `linear_displacement_offset`, of a cell that "
                       "repeats along all axes; leave `axes` and `fixed_macro_strain` out of " +
                           entry->where);
  std::vector<Varying> in_time;
  for (const auto& row : entry->macro_strain)
    for (const Expression& formula : row)
      if (!constant_of(formula)) in_time.push_back({formula.text(), entry->where});
  refuse_varying(at, parameter, {}, "", in_time, "time; write numbers there");
}

template <int dim>
void apply_macro_strain(const ParameterField<dim>&, FieldValues values, const VariantInputs<dim>& to) {
  auto& rows = elements_of(to.scene).periodic->macro_strain;
  rows.assign(dim, {});
  for (int k = 0; k < dim * dim; ++k) rows[k / dim].emplace_back(values[k]);
}

template <int dim>
void write_macro_strain(const ParameterField<dim>&, FieldValues values, SceneDraft<dim>& to) {
  nlohmann::json rows = nlohmann::json::array();
  for (int i = 0; i < dim; ++i)
    rows.push_back(std::vector<double>(values.begin() + i * dim, values.begin() + (i + 1) * dim));
  nlohmann::json& conditions = to.json["boundary_conditions"];
  nlohmann::json& boundary = conditions["periodic_boundary"];
  (boundary.is_object() ? boundary : conditions)["linear_displacement_offset"] = std::move(rows);
}

template <int dim>
void macro_strain_weights(const WeightsOf<dim>& of, const TakeWeight& take) {
  of.discrete.solver().problem().periodic->for_each_follower([&](LocalIndex node, int i, const auto& way) {
    for (int j = 0; j < dim; ++j)
      if (way[j] != 0) take(i * dim + j, std::size_t(node) * dim + i, of.at.load_factor * way[j]);
  });
}

template <int dim>
ParameterActions<dim> macro_strain_actions() {
  return {.make_slots = make_step_slots<dim>,
          .apply = apply_macro_strain<dim>,
          .write = write_macro_strain<dim>,
          .enters = Enters::prescribed,
          .weights = macro_strain_weights<dim>};
}

} // namespace

std::vector<ParameterKind> macro_strain_parameters() {
  return {{.name = "macro_strain",
           .components = Components::matrix,
           .doc =
               "`linear_displacement_offset` of a `periodic_boundary`, all entries of it, row by row, at all "
               "times.",
           .quantities = {parameters::quantities::displacement},
           .check = check_macro_strain,
           .by_dimension = {macro_strain_actions<2>(), macro_strain_actions<3>()}}};
}

} // namespace recoil::app
