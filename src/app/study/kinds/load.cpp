#include "app/study/kinds/boundary_entries.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"

namespace recoil::app {
namespace {

constexpr char neumann[] = "neumann_boundary";
constexpr char pressure_boundary[] = "pressure_boundary";
constexpr char rest_pressure_boundary[] = "rest_pressure_boundary";
constexpr char normal_aligned_neumann[] = "normal_aligned_neumann_boundary";
constexpr const char* add_entry = "; add an entry with this id, its value may be zero";

void check_traction(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& entries = at.scene.boundary_conditions.neumann;
  const auto& entry = find_entry(at, parameter, entries, "boundary_conditions/neumann_boundary", add_entry);
  refuse_varying(at, parameter, position_dependence(entry.value, entry.where), numbers_instead,
                 time_dependence(entry.value, entry.where), factor_instead);
  refuse_shared_facets(at, parameter, entries, entries);
  refuse_shared_entries(at, parameter, entries);
}

/// Checks a parameter for the values of BoundaryConditions::*own, which shares facets with no load along
/// normals of another kind.
void check_normal_loads(const ExperimentScene& at, const ParameterSpec& parameter,
                        std::vector<PressureEntry> BoundaryConditions::*own, const char* name,
                        const std::string& hint) {
  const auto& conditions = at.scene.boundary_conditions;
  const auto& loads = conditions.*own;
  const auto& entry = find_entry(at, parameter, loads, std::string("boundary_conditions/") + name, hint);
  refuse_varying(at, parameter, position_dependence(entry.formulas(), entry.where), numbers_instead,
                 time_dependence(entry), factor_instead);
  for (const auto* others : conditions.normal_loads()) refuse_shared_facets(at, parameter, loads, *others);
  refuse_shared_entries(at, parameter, loads);
}

void check_pressure(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& conditions = at.scene.boundary_conditions;
  const char* hint = !conditions.normal_aligned_neumann.empty()
                         ? "; a normal_aligned_neumann_boundary is set by normal_traction"
                     : !conditions.rest_pressure.empty()
                         ? "; a rest_pressure_boundary is set by rest_pressure"
                         : add_entry;
  check_normal_loads(at, parameter, &BoundaryConditions::pressure, pressure_boundary, hint);
}

void check_rest_pressure(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_normal_loads(at, parameter, &BoundaryConditions::rest_pressure, rest_pressure_boundary, add_entry);
}

void check_normal_traction(const ExperimentScene& at, const ParameterSpec& parameter) {
  check_normal_loads(at, parameter, &BoundaryConditions::normal_aligned_neumann, normal_aligned_neumann,
                     add_entry);
}

void refuse_particle_force(const ExperimentScene& at, const ParameterSpec& parameter) {
  at.fail(parameter, "particle_force acts on bonded particles, and this scene is of finite elements; take "
                     "traction, or say by `experiment` which scenes are meant");
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
      {.name = "pressure",
       .unit = "Pa",
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `pressure_boundary` with this id (default: the only one).",
       .quantities = {parameters::quantities::pressure},
       .check = check_pressure,
       .by_dimension = {facet_load_actions<2, &BoundaryConditions::pressure, pressure_boundary>(),
                        facet_load_actions<3, &BoundaryConditions::pressure, pressure_boundary>()}},
      {.name = "rest_pressure",
       .unit = "Pa",
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `rest_pressure_boundary` with this id (default: the only one).",
       .quantities = {parameters::quantities::pressure},
       .check = check_rest_pressure,
       .by_dimension = {facet_load_actions<2, &BoundaryConditions::rest_pressure, rest_pressure_boundary>(),
                        facet_load_actions<3, &BoundaryConditions::rest_pressure, rest_pressure_boundary>()}},
      {.name = "normal_traction",
       .unit = "Pa",
       .takes = {"boundary", "per_step"},
       .doc = "`value` of the `normal_aligned_neumann_boundary` with this id (default: the only one).",
       .quantities = {parameters::quantities::pressure},
       .check = check_normal_traction,
       .by_dimension =
           {facet_load_actions<2, &BoundaryConditions::normal_aligned_neumann, normal_aligned_neumann>(),
            facet_load_actions<3, &BoundaryConditions::normal_aligned_neumann, normal_aligned_neumann>()}},
      {.name = "particle_force",
       .unit = "N",
       .components = Components::vector,
       .takes = {"boundary"},
       .needs = {"boundary"},
       .doc = "`value` of the `particle_forces` with this id, in scenes of bonded particles.",
       .check = refuse_particle_force,
       .by_dimension = {},
       .on_particles = &force_on_particles},
  };
}

} // namespace recoil::app
