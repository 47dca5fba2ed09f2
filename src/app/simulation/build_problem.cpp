#include "recoil/app/simulation/build_problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/simulation/build_loads.hpp"
#include "app/simulation/nodal_values.hpp"
#include "recoil/app/simulation/build_contact.hpp"
#include "recoil/app/simulation/conventions.hpp"
#include "recoil/app/simulation/materials.hpp"
#include "recoil/app/simulation/require_finite.hpp"
#include "recoil/fem/reference/quadrature.hpp"

namespace recoil::app {

namespace {

template <int dim>
std::vector<fem::DirichletCondition> dirichlet_conditions(const Scene& scene) {
  std::vector<fem::DirichletCondition> conditions;
  for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) {
    fem::DirichletCondition& condition = conditions.emplace_back();
    for (const mesh::NodeValue& node : entry.nodes) condition.vertices.emplace(node.vertex, node.value);
    if (!entry.nodes.empty()) continue;
    condition.all = entry.all;
    condition.ids.assign(entry.ids.begin(), entry.ids.end());
    for (std::size_t i = 0; i < dim; ++i) condition.components[i] = entry.value[i].constrained;
    condition.value = [&entry](int component, const ExpressionPoint& point) {
      return require_finite(entry.evaluate(component, point), entry.where, "prescribed displacement",
                            component, point);
    };
  }
  return conditions;
}

/// Adjoints are those of exactly stationary states, and Newton's last iteration, which costs one solve,
/// brings eight digits: the tolerances of the scene are met by this factor better.
constexpr double tighter = 1e-1;

/// Calls act(node) for the owned nodes of the region's cells, cells by ascending input id (so the last one
/// decides).
template <int dim, class Act>
void on_region_nodes(const Region& region, const fem::FunctionSpace<dim>& space, Act act) {
  const auto& mesh = space.mesh();
  std::vector<std::size_t> cells(mesh.cells.size());
  std::iota(cells.begin(), cells.end(), std::size_t{0});
  std::sort(cells.begin(), cells.end(), [&](auto a, auto b) { return mesh.cell_ids[a] < mesh.cell_ids[b]; });
  for (const std::size_t cell : cells) {
    if (!contains(region, mesh.body_names[mesh.cell_body[cell]], mesh.cell_volume_id[cell])) continue;
    for (const LocalIndex node : space.cell_nodes(static_cast<LocalIndex>(cell)))
      if (node < space.num_owned_nodes()) act(node);
  }
}

template <int dim>
void sample_formulas(const InitialField& field, const fem::FunctionSpace<dim>& space,
                     linalg::Vector& values) {
  auto entries = values.write_owned();
  parallel::collectively(space.comm(), [&] {
    on_region_nodes(field.region, space, [&](LocalIndex node) {
      const auto point = fem::expression_point<dim>(space.node_positions()[node], 0);
      for (int i = 0; i < dim; ++i)
        entries[node * dim + i] =
            require_finite(field.value[i](point), field.region.where, "initial value", i, point);
    });
  });
}

template <int dim>
void sample(const std::vector<InitialField>& fields, const fem::FunctionSpace<dim>& space,
            linalg::Vector& values) {
  for (const InitialField& field : fields) {
    if (!field.nodes) {
      sample_formulas(field, space, values);
      continue;
    }
    const std::vector<double> rows = read_nodal_values(*field.nodes, field.region.where, space);
    auto entries = values.write_owned();
    on_region_nodes(field.region, space, [&](LocalIndex node) {
      const auto row = std::span(rows).subspan(std::size_t(node) * dim, dim);
      if (!std::isnan(row[0])) std::ranges::copy(row, entries.begin() + std::ptrdiff_t(node) * dim);
    });
  }
}

template <int dim>
Eigen::Vector3d centre_of_mass(const Region& region, const fem::FunctionSpace<dim>& space,
                               const fem::CellGeometry<dim>& geometry, const potentials::Density& density) {
  const auto& mesh = space.mesh();
  const auto rule = fem::simplex_quadrature<dim>(2);
  std::array<double, 4> moments{};
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const std::size_t index = cell;
    if (!contains(region, mesh.body_names[mesh.cell_body[index]], mesh.cell_volume_id[index])) continue;
    const auto& vertices = mesh.cells[index];
    for (std::size_t q = 0; q < rule.weights.size(); ++q) {
      Eigen::Matrix<double, dim, 1> x = mesh.vertices[vertices[0]] * (1 - rule.points[q].sum());
      for (std::size_t i = 0; i < dim; ++i) x += rule.points[q][i] * mesh.vertices[vertices[i + 1]];
      const double mass =
          geometry.weight_factor(cell) * rule.weights[q] * density(cell, fem::expression_point<dim>(x, 0));
      for (std::size_t i = 0; i < dim; ++i) moments[i] += mass * x[i];
      moments[3] += mass;
    }
  }
  space.comm().sum(moments);
  return Eigen::Vector3d(moments[0], moments[1], moments[2]) / moments[3];
}

template <int dim>
void add_spin(const AngularVelocity& spin, const Eigen::Vector3d& centre,
              const fem::FunctionSpace<dim>& space, linalg::Vector& velocity) {
  Eigen::Vector3d omega = Eigen::Vector3d::Zero();
  if constexpr (dim == 2)
    omega.z() = spin.value[0];
  else
    omega = Eigen::Vector3d(spin.value[0], spin.value[1], spin.value[2]);
  std::vector<char> done(space.num_owned_nodes(), 0);
  auto entries = velocity.write_owned();
  on_region_nodes(spin.region, space, [&](LocalIndex node) {
    if (std::exchange(done[node], 1) != 0) return;
    Eigen::Vector3d arm = -centre;
    arm.template head<dim>() += space.node_positions()[node];
    const Eigen::Vector3d v = omega.cross(arm);
    fem::node_block<dim>(entries, node) += v.template head<dim>();
  });
}

} // namespace

template <int dim>
solvers::ElastodynamicsProblem<dim>
build_problem(const Scene& scene, const fem::FunctionSpace<dim>& space, const std::vector<int>& materials,
              const CellOverrides& overrides, const mesh::DistributedObstacles<dim>& obstacles) {
  solvers::ElastodynamicsProblem<dim> problem;
  problem.space = &space;
  problem.geometry = std::make_shared<const fem::CellGeometry<dim>>(space.mesh());
  add_materials(scene, space, materials, overrides, problem);
  const auto lumping =
      scene.solver.lump_mass_matrix ? potentials::MassLumping::row_sum : potentials::MassLumping::consistent;
  problem.density = make_density(scene, space, materials, overrides);
  parallel::collectively(space.comm(), [&] {
    problem.mass =
        std::make_unique<potentials::MassMatrix<dim>>(space, *problem.geometry, problem.density, lumping);
  });
  problem.dirichlet = std::make_unique<fem::DirichletDofs<dim>>(space, dirichlet_conditions<dim>(scene));
  add_loads(scene, space, overrides, problem);
  add_contact(scene, obstacles, problem);
  return problem;
}

template <int dim>
stepping::State initial_state(const Scene& scene, const solvers::ElastodynamicsProblem<dim>& problem,
                              const std::function<void(stepping::State&)>& adjust) {
  const fem::FunctionSpace<dim>& space = *problem.space;
  stepping::State state;
  state.u = linalg::Vector(space.layout());
  state.v = linalg::Vector(space.layout());
  if (scene.time.kind == TimeKind::statics) return state;
  sample(scene.initial_conditions.solution, space, state.u);
  sample(scene.initial_conditions.velocity, space, state.v);
  if (adjust) adjust(state);
  for (const AngularVelocity& spin : scene.initial_conditions.angular_velocity)
    add_spin(spin, spin_center(spin, problem), space, state.v);
  state.u.update_ghosts();
  state.v.update_ghosts();
  return state;
}

template <int dim>
Eigen::Vector3d spin_center(const AngularVelocity& spin, const solvers::ElastodynamicsProblem<dim>& problem) {
  return spin.center ? *spin.center
                     : centre_of_mass(spin.region, *problem.space, *problem.geometry, problem.density);
}

solvers::ElastodynamicsOptions solver_options(const Scene& scene, int dim, double diagonal) {
  solvers::ElastodynamicsOptions options;
  switch (scene.time.kind) {
  case TimeKind::statics:
    options.dynamics = solvers::Dynamics::statics;
    break;
  case TimeKind::quasistatic:
    options.dynamics = solvers::Dynamics::quasistatic;
    break;
  case TimeKind::dynamic:
    options.dynamics = solvers::Dynamics::dynamic;
    break;
  }
  options.t0 = scene.time.t0;
  options.dt = scene.time.dt;
  options.bdf_order = scene.time.bdf_order;
  options.max_retries = scene.time.max_retries;
  options.regularization_weight = scene.solver.lagged_regularization_weight;
  options.regularization_passes = scene.solver.lagged_regularization_iterations;
  const double length = scene.solver.characteristic_length.value_or(diagonal);
  const bool euclidean = scene.solver.norm == StopNorm::euclidean;
  const double unit =
      scene.solver.characteristic_force_density * std::pow(length, euclidean ? dim : 0.5 * dim);
  options.gradient_norm = euclidean ? solvers::GradientNorm::euclidean : solvers::GradientNorm::l2;
  auto& newton = options.newton;
  newton.max_iterations = scene.solver.max_iterations;
  newton.gradient_tolerance = tighter * scene.solver.grad_norm_tol * unit;
  newton.relative_gradient_tolerance = tighter * scene.solver.rel_grad_norm_tol;
  newton.stuck_factor = 1 / tighter;
  newton.first_gradient_tolerance = scene.solver.first_grad_norm_tol * unit;
  newton.length_scale = diagonal;
  options.accept_out_of_iterations = scene.solver.allow_out_of_iterations;
  options.barrier_stiffness = scene.contact.barrier_stiffness;
  options.stiffness_unit = stiffness_unit(scene, contact_distance(scene.contact, diagonal));
  options.initial_barrier_stiffness = scene.contact.initial_barrier_stiffness;
  options.friction_iterations = scene.contact.friction_iterations;
  options.friction_convergence_tol = scene.contact.friction_convergence_tol;
  if (scene.solver.stop == StopRule::step)
    newton.step_rule = newton::StepRule{scene.solver.step_tolerance,
                                        scene.time.kind == TimeKind::statics ? 1.0 : scene.time.dt, diagonal};
  return options;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template solvers::ElastodynamicsProblem<dim> build_problem(const Scene&, const fem::FunctionSpace<dim>&,   \
                                                             const std::vector<int>&, const CellOverrides&,  \
                                                             const mesh::DistributedObstacles<dim>&);        \
  template stepping::State initial_state(const Scene&, const solvers::ElastodynamicsProblem<dim>&,           \
                                         const std::function<void(stepping::State&)>&);                      \
  template Eigen::Vector3d spin_center(const AngularVelocity&, const solvers::ElastodynamicsProblem<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
