#include "app/simulation/build_loads.hpp"

#include <algorithm>

#include "recoil/app/simulation/material_values.hpp"
#include "recoil/app/simulation/materials.hpp"
#include "recoil/app/simulation/require_finite.hpp"
#include "recoil/base/error.hpp"
#include "recoil/potentials/dead_loads.hpp"
#include "recoil/potentials/pressure.hpp"

namespace recoil::app {

namespace {

bool depends_on_time(const Expression& value) { return value.depends_on_time(); }
bool depends_on_time(const MaterialValue& value) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula != nullptr && formula->depends_on_time();
}

template <class Value>
bool depends_on_time(const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(), [](const Value& value) { return depends_on_time(value); });
}

/// gravity - rhs, or what stands in for it; empty value if it is zero everywhere.
template <int dim>
potentials::AccelerationField<dim>
acceleration_field(const Scene& scene, const fem::FunctionSpace<dim>& space, const CellOverrides& overrides) {
  const auto& rhs = scene.boundary_conditions.rhs;
  const auto& gravity = scene.gravity;
  const auto is_zero = [](const MaterialValue& value) {
    const auto* formula = std::get_if<Expression>(&value);
    return formula != nullptr && formula->is_constant() && (*formula)({}) == 0;
  };
  potentials::AccelerationField<dim> field;
  if (std::all_of(rhs.begin(), rhs.end(), is_zero) &&
      std::all_of(gravity.begin(), gravity.end(), [](double g) { return g == 0; }) &&
      !overrides.has(acceleration(0)))
    return field;
  field.time_dependent = depends_on_time(rhs);
  auto values = std::make_shared<MaterialValues<dim>>(space.mesh());
  field.value = [&rhs, &gravity, &overrides, values,
                 where = scene.file.string() + " (/boundary_conditions/rhs)"](LocalIndex cell,
                                                                              const ExpressionPoint& point) {
    Eigen::Matrix<double, dim, 1> value = Eigen::Matrix<double, dim, 1>::Zero();
    for (int i = 0; i < dim; ++i) {
      double& component = value[i];
      if (const auto given = overrides.find(acceleration(i), cell)) {
        component = *given;
        continue;
      }
      if (i < std::ssize(gravity)) component += gravity[i];
      // PolyFEM's sign: the force density is -rho rhs.
      if (i < std::ssize(rhs))
        component -= require_finite(values->at(rhs[i], cell, point, where), where, "acceleration", i, point);
    }
    return value;
  };
  return field;
}

potentials::FacetSelection facets_of(bool all, const std::vector<int>& ids) {
  return {all, std::vector<std::int32_t>(ids.begin(), ids.end())};
}

template <int dim>
potentials::LoadField<dim> traction_field(const TractionEntry& entry) {
  potentials::LoadField<dim> traction;
  traction.time_dependent = depends_on_time(entry.value);
  traction.value = [&entry](const ExpressionPoint& point) {
    Eigen::Matrix<double, dim, 1> value;
    for (int i = 0; i < dim; ++i)
      value[i] = require_finite(entry.value[i](point), entry.where, "traction", i, point);
    return value;
  };
  return traction;
}

template <int dim>
potentials::LoadHistory<dim> history_of(const TractionEntry& entry) {
  if (entry.interpolation.empty()) return {};
  return [&entry](double time) {
    Eigen::Matrix<double, dim, 1> factors;
    for (int i = 0; i < dim; ++i) factors[i] = time_factor(entry.interpolation, i, time);
    return factors;
  };
}

double pressure_at(const PressureEntry& entry, const ExpressionPoint& point) {
  return require_finite(entry.evaluate(point), entry.where, "pressure", {}, point);
}

double history_at(const PressureEntry& entry, double time) {
  return time_factor(entry.interpolation, 0, time);
}

std::function<double(double)> uniform_pressure(const PressureEntry& entry) {
  for (const Expression& value : entry.formulas())
    if (value.depends_on_position())
      throw InputError(entry.where,
                       "the pressure '" + value.text() +
                           "' depends on position; a follower pressure has a potential only if it is "
                           "uniform. Use a formula of t alone");
  return [&entry](double time) {
    ExpressionPoint point;
    point.t = time;
    return history_at(entry, time) * pressure_at(entry, point);
  };
}

} // namespace

template <int dim>
void add_loads(const Scene& scene, const fem::FunctionSpace<dim>& space, const CellOverrides& overrides,
               solvers::ElastodynamicsProblem<dim>& problem) {
  const BoundaryConditions& conditions = scene.boundary_conditions;
  const auto add = [&](std::unique_ptr<potentials::Potential<dim>> load) {
    problem.add_load(std::move(load));
  };
  if (auto field = acceleration_field<dim>(scene, space, overrides); field.value)
    add(potentials::make_body_force<dim>(space, problem.geometry, problem.density, std::move(field)));
  for (const TractionEntry& entry : conditions.neumann)
    add(potentials::make_traction<dim>(space, facets_of(entry.all, entry.ids), traction_field<dim>(entry),
                                       history_of<dim>(entry)));
  for (const PressureEntry& entry : conditions.normal_aligned_neumann)
    add(potentials::make_normal_traction<dim>(space, problem.geometry, facets_of(entry.all, entry.ids),
                                              [&entry](const ExpressionPoint& point) {
                                                return history_at(entry, point.t) * pressure_at(entry, point);
                                              }));
  for (const PressureEntry& entry : conditions.pressure)
    add(potentials::make_pressure<dim>(space, problem.geometry, facets_of(entry.all, entry.ids),
                                       uniform_pressure(entry), problem.dirichlet->flags(), entry.where));
}

template void add_loads(const Scene&, const fem::FunctionSpace<2>&, const CellOverrides&,
                        solvers::ElastodynamicsProblem<2>&);
template void add_loads(const Scene&, const fem::FunctionSpace<3>&, const CellOverrides&,
                        solvers::ElastodynamicsProblem<3>&);

} // namespace recoil::app
