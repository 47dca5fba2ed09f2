#include "recoil/app/solvers/elastodynamics/build_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "recoil/app/run/forward_run.hpp"
#include "recoil/app/solvers/elastodynamics/build_contact.hpp"
#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/app/solvers/elastodynamics/locking.hpp"
#include "recoil/app/solvers/elastodynamics/materials.hpp"
#include "recoil/app/solvers/elastodynamics/periodic.hpp"
#include "recoil/app/solvers/elastodynamics/scene_values.hpp"
#include "recoil/app/solvers/elastodynamics/thin_bodies.hpp"
#include "recoil/base/error.hpp"
#include "recoil/potentials/loads.hpp"

namespace recoil::app {

namespace {

/// The prescribed displacements of the owned nodes, by node.
template <int dim>
NodalValues values_at_nodes(const DirichletEntry& entry, const fem::FunctionSpace<dim>& space) {
  if (entry.at_nodes) return *entry.at_nodes;
  const std::vector<double> rows = read_nodal_values<dim>(*entry.nodal, entry.where, space);
  NodalValues values;
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
    std::copy_n(rows.begin() + std::ptrdiff_t{dim} * node, dim, values[space.canonical_ids()[node]].begin());
  return values;
}

/// The prescribed displacement of a node over time, with the interpolation of the entry.
template <int dim>
std::function<double(int, GlobalIndex, double)> nodal_value(const DirichletEntry& entry,
                                                            const fem::FunctionSpace<dim>& space) {
  return [&entry, values = values_at_nodes(entry, space)](int component, GlobalIndex node, double time) {
    const double value = values.at(node)[component];
    if (std::isnan(value))
      throw InputError(entry.where,
                       "row " + std::to_string(node) + " (counted from 0) of dataset '" +
                           entry.nodal->dataset + "' of " + entry.nodal->file.string() +
                           " is NaN, but its node is on this boundary; write its displacement there");
    return time_factor(entry.interpolation, component, time) * value;
  };
}

/// Adjoints are those of exactly stationary states, and Newton's last iteration, which costs one solve,
/// brings eight digits: the tolerances of the scene are met by this factor better.
constexpr double tighter = 1e-1;

bool depends_on_time(const MaterialValue& value) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula != nullptr && formula->depends_on_time();
}

/// gravity - rhs, or what stands in for it; empty value if it is zero everywhere.
template <int dim>
potentials::AccelerationField<dim>
acceleration_field(const Scene& scene, const fem::FunctionSpace<dim>& space, const CellOverrides& overrides) {
  const auto& rhs = scene.boundary_conditions.rhs;
  const auto& gravity = scene.gravity;
  potentials::AccelerationField<dim> field;
  if (std::ranges::all_of(rhs, [](const MaterialValue& value) { return constant_of(value) == 0; }) &&
      std::ranges::all_of(gravity, [](double g) { return g == 0; }) && !overrides.has(acceleration(0)))
    return field;
  field.time_dependent = std::ranges::any_of(rhs, depends_on_time);
  auto values = std::make_shared<MaterialValues<dim>>(space.mesh());
  std::array<std::string, dim> names;
  for (int i = 0; i < dim; ++i) names[i] = acceleration(i);
  field.value = [&rhs, &gravity, &overrides, values, names,
                 where = scene.file.string() + " (/boundary_conditions/rhs)"](LocalIndex cell,
                                                                              const ExpressionPoint& point) {
    Eigen::Matrix<double, dim, 1> value = Eigen::Matrix<double, dim, 1>::Zero();
    for (int i = 0; i < dim; ++i) {
      double& component = value[i];
      if (const auto given = overrides.find(names[i], cell)) {
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
  traction.time_dependent = std::ranges::any_of(entry.value, depends_on_time);
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
  return time_factor(entry.interpolation, 0, point.t) *
         require_finite(entry.evaluate(point), entry.where, "pressure", {}, point);
}

std::function<double(double)> uniform_pressure(const PressureEntry& entry) {
  for (const Expression& value : entry.formulas())
    if (value.depends_on_position())
      throw InputError(entry.where, "the pressure '" + value.text() +
                                        "' depends on position; a follower pressure has a potential only if "
                                        "it is uniform. Use a formula of t alone");
  return [&entry](double time) {
    ExpressionPoint point;
    point.t = time;
    return pressure_at(entry, point);
  };
}

/// Adds body forces, tractions and pressures of a scene to a problem that has its geometry and Dirichlet
/// conditions, density and mass. Their begin_step throws an InputError on the ranks where a formula has no
/// finite value. Collective. @throws InputError on every rank for a pressure without a potential.
template <int dim>
void add_loads(const Scene& scene, const fem::FunctionSpace<dim>& space, const CellOverrides& overrides,
               solvers::ElastodynamicsProblem<dim>& problem) {
  const BoundaryConditions& conditions = scene.boundary_conditions;
  if (auto field = acceleration_field<dim>(scene, space, overrides); field.value)
    problem.add_load(
        potentials::make_body_force<dim>(space, problem.geometry, problem.density, std::move(field)));
  for (const TractionEntry& entry : conditions.neumann)
    problem.add_load(potentials::make_traction<dim>(space, facets_of(entry.all, entry.ids),
                                                    traction_field<dim>(entry), history_of<dim>(entry)));
  for (const auto& [list, normals] :
       {std::pair{&conditions.normal_aligned_neumann, potentials::LoadNormals::step_start},
        std::pair{&conditions.rest_pressure, potentials::LoadNormals::rest}})
    for (const PressureEntry& entry : *list)
      problem.add_load(potentials::make_normal_traction<dim>(
          space, problem.geometry, facets_of(entry.all, entry.ids),
          [&entry](const ExpressionPoint& point) { return pressure_at(entry, point); }, normals));
  const bool has_steps = scene.time.kind != TimeKind::statics;
  for (const PressureEntry& entry : conditions.pressure)
    problem.add_load(potentials::make_pressure<dim>(space, problem.geometry, facets_of(entry.all, entry.ids),
                                                    uniform_pressure(entry), problem.dirichlet->flags(),
                                                    has_steps, entry.where));
}

} // namespace

template <int dim>
std::vector<fem::DirichletCondition> dirichlet_conditions(const Scene& scene,
                                                          const fem::FunctionSpace<dim>& space) {
  std::vector<fem::DirichletCondition> conditions;
  for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) {
    fem::DirichletCondition& condition = conditions.emplace_back();
    for (const mesh::NodeValue& node : entry.nodes) condition.vertices.emplace(node.vertex, node.value);
    if (!entry.nodes.empty()) continue;
    condition.all = entry.all;
    condition.ids.assign(entry.ids.begin(), entry.ids.end());
    for (std::size_t i = 0; i < dim; ++i) condition.components[i] = entry.value[i].constrained;
    if (entry.nodal || entry.at_nodes) {
      condition.nodal_value = nodal_value(entry, space);
      continue;
    }
    condition.value = [&entry](int component, const ExpressionPoint& point) {
      return require_finite(entry.evaluate(component, point), entry.where, "prescribed displacement",
                            component, point);
    };
  }
  return conditions;
}

template <int dim>
solvers::ElastodynamicsProblem<dim>
build_problem(const Scene& scene, const fem::FunctionSpace<dim>& space, const std::vector<int>& materials,
              const CellOverrides& overrides, const mesh::DistributedObstacles<dim>& obstacles) {
  solvers::ElastodynamicsProblem<dim> problem;
  problem.space = &space;
  problem.geometry = std::make_shared<const fem::CellGeometry<dim>>(space.mesh());
  add_materials(scene, space, materials, overrides, problem);
  warn_of_locking(scene, space, materials, overrides);
  const auto lumping = elements_of(scene).solver.lump_mass_matrix ? potentials::MassLumping::row_sum
                                                                  : potentials::MassLumping::consistent;
  problem.density = make_density(scene, space, materials, overrides);
  parallel::collectively(space.comm(), [&] {
    problem.mass =
        std::make_unique<potentials::MassMatrix<dim>>(space, *problem.geometry, problem.density, lumping);
  });
  problem.dirichlet = std::make_unique<fem::DirichletDofs<dim>>(space, dirichlet_conditions(scene, space));
  if (elements_of(scene).periodic)
    problem.periodic = std::make_unique<fem::PeriodicBoundary<dim>>(space, periodic_spec<dim>(scene),
                                                                    problem.dirichlet->flags());
  warn_of_thin_bodies(space, *problem.dirichlet);
  add_loads(scene, space, overrides, problem);
  add_contact(scene, obstacles, problem);
  return problem;
}

solvers::ElastodynamicsOptions solver_options(const Scene& scene, int dim, double diagonal) {
  const SolverSpec& given = elements_of(scene).solver;
  solvers::ElastodynamicsOptions options;
  static_cast<stepping::TimeOptions&>(options) = time_options(scene);
  const bool is_static = scene.time.kind == TimeKind::statics;
  options.dynamics = is_static                                  ? solvers::Dynamics::statics
                     : scene.time.kind == TimeKind::quasistatic ? solvers::Dynamics::quasistatic
                                                                : solvers::Dynamics::dynamic;
  options.bdf_order = elements_of(scene).bdf_order;
  options.regularization_weight = given.lagged_regularization_weight;
  options.regularization_passes = given.lagged_regularization_iterations;
  const double length = given.characteristic_length.value_or(diagonal);
  const bool euclidean = given.norm == StopNorm::euclidean;
  const double unit = given.characteristic_force_density * std::pow(length, euclidean ? dim : 0.5 * dim);
  options.gradient_norm = euclidean ? solvers::GradientNorm::euclidean : solvers::GradientNorm::l2;
  auto& newton = options.newton;
  newton.max_iterations = given.max_iterations;
  newton.gradient_tolerance = tighter * given.grad_norm_tol * unit;
  newton.relative_gradient_tolerance = tighter * given.rel_grad_norm_tol;
  newton.stuck_factor = 1 / tighter;
  newton.first_gradient_tolerance = given.first_grad_norm_tol * unit;
  newton.length_scale = diagonal;
  options.accept_out_of_iterations = given.allow_out_of_iterations;
  options.barrier_stiffness = scene.contact.barrier_stiffness;
  options.stiffness_unit = stiffness_unit(scene, contact_distance(scene.contact, diagonal));
  options.initial_barrier_stiffness = scene.contact.initial_barrier_stiffness;
  options.friction_iterations = scene.contact.friction_iterations;
  if (scene.contact.friction_convergence_tol > 0) {
    options.friction_convergence_tol = scene.contact.friction_convergence_tol;
    options.friction_tolerance = std::numeric_limits<double>::infinity();
  }
  if (given.stop == StopRule::step)
    newton.step_rule = newton::StepRule{given.step_tolerance, is_static ? 1.0 : scene.time.dt, diagonal};
  return options;
}

template std::vector<fem::DirichletCondition> dirichlet_conditions(const Scene&,
                                                                   const fem::FunctionSpace<2>&);
template std::vector<fem::DirichletCondition> dirichlet_conditions(const Scene&,
                                                                   const fem::FunctionSpace<3>&);
template solvers::ElastodynamicsProblem<2> build_problem(const Scene&, const fem::FunctionSpace<2>&,
                                                         const std::vector<int>&, const CellOverrides&,
                                                         const mesh::DistributedObstacles<2>&);
template solvers::ElastodynamicsProblem<3> build_problem(const Scene&, const fem::FunctionSpace<3>&,
                                                         const std::vector<int>&, const CellOverrides&,
                                                         const mesh::DistributedObstacles<3>&);

} // namespace recoil::app
