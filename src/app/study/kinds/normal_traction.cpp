#include "app/study/kinds/boundary_entries.hpp"

namespace recoil::app {
namespace {

constexpr char normal_aligned_neumann[] = "normal_aligned_neumann_boundary";

void check_normal_traction(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& conditions = at.scene.boundary_conditions;
  const auto& loads = conditions.normal_aligned_neumann;
  const auto& entry =
      find_entry(at, parameter, loads, std::string("boundary_conditions/") + normal_aligned_neumann,
                 "; add an entry with this id, its value may be zero");
  refuse_varying(at, parameter, position_dependence(entry.formulas(), entry.where), numbers_instead,
                 time_dependence(entry), factor_instead);
  refuse_shared_facets(at, parameter, loads, loads);
  refuse_shared_facets(at, parameter, loads, conditions.pressure);
  refuse_shared_entries(at, parameter, loads);
}

template <int dim>
ParameterActions<dim> normal_traction_actions() {
  return facet_load_actions<dim, &BoundaryConditions::normal_aligned_neumann, normal_aligned_neumann>();
}

} // namespace

std::vector<ParameterKind> normal_traction_parameters() {
  return {{.name = "normal_traction",
           .unit = "Pa",
           .takes = {"boundary", "per_step"},
           .doc = "`value` of the `normal_aligned_neumann_boundary` with this id (default: the only one).",
           .quantities = {parameters::quantities::pressure},
           .check = check_normal_traction,
           .by_dimension = {normal_traction_actions<2>(), normal_traction_actions<3>()}}};
}

} // namespace recoil::app
