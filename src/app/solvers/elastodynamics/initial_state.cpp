#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "recoil/app/solvers/elastodynamics/build_problem.hpp"
#include "recoil/app/solvers/elastodynamics/scene_values.hpp"
#include "recoil/app/solvers/elastodynamics/stored_state.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/reference/quadrature.hpp"

namespace recoil::app {

namespace {

/// Calls act(node) for the owned nodes of the region's cells, cells by ascending input id (so the last one
/// decides).
template <int dim, class Act>
void on_region_nodes(const Region& region, const fem::FunctionSpace<dim>& space, Act act) {
  const auto& mesh = space.mesh();
  std::vector<LocalIndex> cells(mesh.num_cells());
  std::iota(cells.begin(), cells.end(), 0);
  std::ranges::sort(cells, {}, [&](LocalIndex cell) { return mesh.cell_ids[cell]; });
  for (const LocalIndex cell : cells) {
    if (!contains(region, mesh.body_names[mesh.cell_body[cell]], mesh.cell_volume_id[cell])) continue;
    for (const LocalIndex node : space.cell_nodes(cell))
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
    const std::vector<double> rows = read_nodal_values<dim>(*field.nodes, field.region.where, space);
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
stepping::State initial_state(const Scene& scene, const solvers::ElastodynamicsProblem<dim>& problem,
                              const std::function<void(stepping::State&)>& adjust) {
  const fem::FunctionSpace<dim>& space = *problem.space;
  stepping::State state;
  state.u = linalg::Vector(space.layout());
  state.v = linalg::Vector(space.layout());
  if (scene.time.kind == TimeKind::statics) return state;
  if (const auto& stored = elements_of(scene).stored)
    read_stored_state(*stored, scene.units, space, state.u, state.v);
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

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template stepping::State initial_state(const Scene&, const solvers::ElastodynamicsProblem<dim>&,           \
                                         const std::function<void(stepping::State&)>&);                      \
  template Eigen::Vector3d spin_center(const AngularVelocity&, const solvers::ElastodynamicsProblem<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
