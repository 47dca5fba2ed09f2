#include "recoil/app/solvers/elastodynamics/periodic.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/run/csv_table.hpp"
#include "recoil/base/error.hpp"
#include "recoil/objectives/stress.hpp"

namespace recoil::app {

namespace {

/// Copies of a cell have no rings of facets around them, and move with nodes that nothing prescribes.
void check_periodic_contact(const Item& root, const Scene& scene) {
  const Item contact = root["contact"];
  const auto refuse = [&](const std::string& why) { contact["periodic"].fail(why); };
  if (!elements_of(scene).periodic)
    refuse("needs a cell that repeats; write boundary_conditions/periodic_boundary, or leave this out");
  if (scene.contact.use_gcp_formulation)
    refuse("excludes `use_gcp_formulation`, which does not see into the next cell; leave one of the two out");
  if (!scene.boundary_conditions.dirichlet.empty())
    refuse("excludes prescribed displacements (" + scene.boundary_conditions.dirichlet.front().where +
           "): the cell is deformed by linear_displacement_offset alone");
}

void refuse_with_periodic(const Item& root, const Scene& scene, const PeriodicEntry& entry) {
  if (scene.time.kind == TimeKind::dynamic)
    throw InputError(entry.where,
                     "a periodic boundary needs a scene without inertia: leave `time` out, or set "
                     "time/quasistatic to true");
  for (const mesh::GeometrySpec& body : scene.geometry)
    if (body.is_obstacle)
      throw InputError(entry.where, "the obstacle '" + body.name +
                                        "' does not repeat with the cell; make it part of the cell, a body");
  if (!scene.planes.empty())
    throw InputError(entry.where, "the plane '" + scene.planes.front().name +
                                      "' does not repeat with the cell; leave it out");
  if (elements_of(scene).solver.lagged_regularization_weight > 0)
    root["solver"]["advanced"]["lagged_regularization_weight"].fail(
        "does not go with a periodic boundary, which fixes the rigid motion of the cell; leave it out");
}

} // namespace

void build_periodic(const Item& root, Scene& scene) {
  elements_of(scene).periodic = read_periodic(root);
  if (elements_of(scene).periodic) refuse_with_periodic(root, scene, *elements_of(scene).periodic);
  if (scene.contact.enabled && scene.contact.periodic) check_periodic_contact(root, scene);
}

template <int dim>
fem::PeriodicSpec<dim> periodic_spec(const Scene& scene) {
  using Matrix = Eigen::Matrix<double, dim, dim>;
  const PeriodicEntry& entry = *elements_of(scene).periodic;
  check_fit(entry, dim);
  fem::PeriodicSpec<dim> spec;
  spec.tolerance = entry.tolerance;
  for (int axis = 0; axis < dim; ++axis) spec.axes[axis] = entry.repeats_along(axis);
  if (const auto edges = entry.edges(dim)) spec.periods = Matrix(*edges);
  spec.prescribed.fill(!entry.prescribed);
  for (const int number : entry.prescribed.value_or(std::vector<int>())) spec.prescribed[number] = true;
  spec.displacement_gradient = [&entry](double time) -> Matrix { return entry.gradient_at(time, dim); };
  spec.pins_all_pieces = !scene.contact.enabled;
  return spec;
}

template <int dim>
std::vector<potentials::Summand<dim>> stored_energies(const solvers::ElastodynamicsProblem<dim>& problem,
                                                      double barrier_stiffness) {
  std::vector<potentials::Summand<dim>> energies;
  for (const auto& term : problem.terms)
    if (term.accounting == solvers::Accounting::energy)
      energies.push_back(
          {term.potential.get(), term.potential.get() == problem.barrier ? barrier_stiffness : 1.0});
  return energies;
}

namespace {

template <int dim>
std::string cell_head() {
  std::string head = "step,time";
  for (const char* quantity : {"H", "P"})
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j) head += fmt::format(",{}_{}{}", quantity, "xyz"[i], "xyz"[j]);
  return head;
}

} // namespace

template <int dim>
void CellTable<dim>::begin(double last_time) const {
  // A run that was ended before its initial state was written leaves no table behind.
  if (!discrete_.solver().problem().periodic || std::isinf(last_time)) return;
  const parallel::Communicator& comm = discrete_.space().comm();
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) begin_table(file_, cell_head<dim>(), last_time);
  });
}

template <int dim>
void CellTable<dim>::add_step() const {
  const solvers::ElastodynamicsSolver<dim>& solver = discrete_.solver();
  const solvers::ElastodynamicsProblem<dim>& problem = solver.problem();
  if (!problem.periodic) return;
  const stepping::State& state = solver.history().newest();
  const auto stress = objectives::observe_cell_stress<dim>(
      discrete_.space(), *problem.periodic,
      stored_energies(problem, problem.contact ? solver.barrier_stiffness() : 0));
  const std::vector<double> P = stress->values({state.u.local(), state.v.local(), solver.time()});
  const Eigen::Matrix<double, dim, dim, Eigen::RowMajor> H = problem.periodic->measure(state.u);
  std::string rows;
  if (std::error_code error; !std::filesystem::exists(file_, error)) rows = cell_head<dim>() + "\n";
  rows += fmt::format("{},{:.17g}{}{}\n", solver.step(), solver.time(),
                      table_cells({H.data(), std::size_t{dim * dim}}), table_cells(P));
  add_to_table(discrete_.space().comm(), file_, rows);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template class CellTable<dim>;                                                                             \
  template std::vector<potentials::Summand<dim>> stored_energies(const solvers::ElastodynamicsProblem<dim>&, \
                                                                 double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

template fem::PeriodicSpec<2> periodic_spec(const Scene&);
template fem::PeriodicSpec<3> periodic_spec(const Scene&);

} // namespace recoil::app
