#include "app/study/kinds/boundary_entries.hpp"

namespace recoil::app {
namespace {

constexpr char pressure_boundary[] = "pressure_boundary";

void check_pressure(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& conditions = at.scene.boundary_conditions;
  const std::string hint = conditions.normal_aligned_neumann.empty()
                               ? "; add an entry with this id, its value may be zero"
                               : "; a normal_aligned_neumann_boundary is set by normal_traction";
  const auto& entry =
      find_entry(at, parameter, conditions.pressure, "boundary_conditions/pressure_boundary", hint);
  refuse_varying(at, parameter, position_dependence(entry.formulas(), entry.where), numbers_instead,
                 time_dependence(entry), factor_instead);
  refuse_shared_facets(at, parameter, conditions.pressure, conditions.pressure);
  refuse_shared_facets(at, parameter, conditions.pressure, conditions.normal_aligned_neumann);
  refuse_shared_entries(at, parameter, conditions.pressure);
}

template <int dim>
ParameterActions<dim> pressure_actions() {
  return facet_load_actions<dim, &BoundaryConditions::pressure, pressure_boundary>();
}

} // namespace

std::vector<ParameterKind> pressure_parameters() {
  return {{.name = "pressure",
           .unit = "Pa",
           .takes = {"boundary", "per_step"},
           .doc = "`value` of the `pressure_boundary` with this id (default: the only one).",
           .quantities = {parameters::quantities::pressure},
           .check = check_pressure,
           .by_dimension = {pressure_actions<2>(), pressure_actions<3>()}}};
}

} // namespace recoil::app
