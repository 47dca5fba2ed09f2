#include "app/study/kinds/boundary_entries.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"

namespace recoil::app {
namespace {

constexpr char neumann[] = "neumann_boundary";

void check_traction(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& entries = at.scene.boundary_conditions.neumann;
  const auto& entry = find_entry(at, parameter, entries, "boundary_conditions/neumann_boundary",
                                 "; add an entry with this id, its value may be zero");
  refuse_varying(at, parameter, position_dependence(entry.value, entry.where), numbers_instead,
                 time_dependence(entry.value, entry.where), factor_instead);
  refuse_shared_facets(at, parameter, entries, entries);
  refuse_shared_entries(at, parameter, entries);
}

void check_body_force(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_bodies_and_regions(at, parameter);
  const auto& rhs = at.scene.boundary_conditions.rhs;
  const std::string where = at.scene.file.string() + " (/boundary_conditions/rhs)";
  refuse_varying(at, parameter, position_dependence(formulas_of(rhs), where), numbers_instead,
                 time_dependence(formulas_of(rhs), where), "time; write numbers there");
  for (const MaterialValue& value : rhs)
    if (const auto* data = std::get_if<ElementData>(&value); data && parameter.per != Per::element)
      refuse_replaced(at, parameter, {{data->file.string() + ", " + data->dataset, where}},
                      "space, one value per element; write \"per\": \"element\", or numbers there");
}

template <int dim>
ParameterActions<dim> body_force_actions() {
  return {.make_slots = [](const SlotBuilder<dim>& builder, auto& field) { builder.spread(field); },
          .apply = apply_to_cells<dim>,
          .write = [](const auto&, FieldValues, auto& to) { write_body_force(to); },
          .weights = cell_weights<dim>};
}

} // namespace

std::vector<ParameterKind> load_parameters() {
  return {
      {.name = "traction",
       .unit = "Pa",
       .components = Components::vector,
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `neumann_boundary` with this id (default: the only one).",
       .quantities = {parameters::quantities::traction},
       .check = check_traction,
       .by_dimension = {facet_load_actions<2, &BoundaryConditions::neumann, neumann>(),
                        facet_load_actions<3, &BoundaryConditions::neumann, neumann>()}},
      {.name = "body_force",
       .unit = "m/s^2",
       .components = Components::vector,
       .takes = cell_keys(),
       .per = {Per::global, Per::body, Per::element},
       .doc = "Acceleration `gravity` - `boundary_conditions/rhs`, with its natural sign.",
       .quantities = {parameters::quantities::acceleration},
       .check = check_body_force,
       .by_dimension = {body_force_actions<2>(), body_force_actions<3>()},
       .on_particles = &particle_gravity},
  };
}

} // namespace recoil::app
