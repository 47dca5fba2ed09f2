#include "recoil/app/solvers/elastodynamics/periodic.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/run/csv_table.hpp"
#include "recoil/base/error.hpp"
#include "recoil/objectives/stress.hpp"

namespace recoil::app {

namespace {

/// The axes along which a cell repeats, as PolyFEM once wrote them, a flag each, or by name.
std::vector<int> axes_of(const Item& boundary) {
  std::vector<int> axes;
  if (boundary.is_list()) {
    const std::vector<Item> flags = boundary.items();
    for (std::size_t k = 0; k < flags.size(); ++k)
      if (flags[k].flag()) axes.push_back(int(k));
    return axes;
  }
  for (const std::string& name : boundary["axes"].texts()) {
    const int axis = name.front() - 'x';
    if (std::ranges::count(axes, axis) > 0) boundary["axes"].fail("names " + name + " twice");
    axes.push_back(axis);
  }
  return axes;
}

void build_strain(const Item& from, PeriodicEntry& entry) {
  if (from.has("linear_displacement_offset"))
    for (const Item& row : from["linear_displacement_offset"].items())
      entry.macro_strain.push_back(row.expressions());
  if (from.has("fixed_macro_strain")) entry.prescribed = from["fixed_macro_strain"].integers();
  if (entry.prescribed)
    for (const int number : *entry.prescribed)
      if (std::ranges::count(*entry.prescribed, number) > 1)
        from["fixed_macro_strain"].fail("names entry " + std::to_string(number) + " twice");
}

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

bool is_switched_on(const Item& boundary) {
  if (boundary.is_null() || boundary.size() == 0) return false;
  if (boundary.is_list())
    return std::ranges::any_of(boundary.items(), [](const Item& flag) { return flag.flag(); });
  if (!boundary.has("enabled"))
    boundary.fail("says what repeats, but not whether it does: add \"enabled\": true, or false");
  return boundary["enabled"].flag();
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

namespace {

void read_periodic(const Item& root, Scene& scene) {
  const Item conditions = root["boundary_conditions"];
  const bool is_on = conditions.has("periodic_boundary") && is_switched_on(conditions["periodic_boundary"]);
  for (const char* name : {"linear_displacement_offset", "fixed_macro_strain"})
    if (conditions.has(name) && (!is_on || !conditions["periodic_boundary"].is_list()))
      conditions[name].fail("stands here with a `periodic_boundary` that is a list of flags; write it in "
                            "`periodic_boundary`, with \"enabled\": true");
  if (!is_on) return;
  const Item boundary = conditions["periodic_boundary"];
  PeriodicEntry& entry = elements_of(scene).periodic.emplace();
  entry.where = boundary.where();
  if (boundary.is_list() || boundary.has("axes")) entry.axes = axes_of(boundary);
  build_strain(boundary.is_list() ? conditions : boundary, entry);
  if (boundary.is_object()) {
    entry.tolerance = boundary.has("tolerance") ? boundary["tolerance"].number() : entry.tolerance;
    if (boundary.has("correspondence"))
      for (const Item& period : boundary["correspondence"].items()) entry.periods.push_back(period.numbers());
    if (!entry.periods.empty() && entry.axes)
      boundary["axes"].fail("goes without `correspondence`, which gives the periods themselves");
  }
  refuse_with_periodic(root, scene, entry);
}

} // namespace

void build_periodic(const Item& root, Scene& scene) {
  read_periodic(root, scene);
  if (scene.contact.enabled && scene.contact.periodic) check_periodic_contact(root, scene);
}

template <int dim>
fem::PeriodicSpec<dim> periodic_spec(const Scene& scene) {
  using Matrix = Eigen::Matrix<double, dim, dim>;
  const PeriodicEntry& entry = *elements_of(scene).periodic;
  const std::string d = std::to_string(dim);
  const auto fail = [&](const std::string& what) { throw InputError(entry.where, what); };
  fem::PeriodicSpec<dim> spec;
  spec.tolerance = entry.tolerance;
  spec.axes.fill(!entry.axes);
  for (const int axis : entry.axes.value_or(std::vector<int>()))
    axis < dim ? void(spec.axes[axis] = true) : fail("there is no z axis in 2D");
  if (!entry.periods.empty()) {
    Matrix periods;
    bool fits = std::ssize(entry.periods) == dim;
    for (int k = 0; fits && k < dim; ++k) {
      fits = std::ssize(entry.periods[k]) == dim;
      for (int i = 0; fits && i < dim; ++i) periods(i, k) = entry.periods[k][i];
    }
    if (!fits) fail("`correspondence` has to be " + d + " vectors of " + d + " numbers in " + d + "D");
    if (std::abs(periods.determinant()) <= 1e-9 * std::pow(periods.norm(), dim))
      fail("the vectors of `correspondence` lie in a " + std::string(dim == 2 ? "line" : "plane"));
    spec.periods = periods;
  }
  spec.prescribed.fill(!entry.prescribed);
  for (const int number : entry.prescribed.value_or(std::vector<int>()))
    number < dim* dim ? void(spec.prescribed[number] = true)
                      : fail("`fixed_macro_strain` has the entry " + std::to_string(number) + "; those in " +
                             d + "D are 0 to " + std::to_string(dim * dim - 1) + ", row by row");
  const bool fits =
      entry.macro_strain.empty() ||
      (std::ssize(entry.macro_strain) == dim &&
       std::ranges::all_of(entry.macro_strain, [](const auto& row) { return std::ssize(row) == dim; }));
  if (!fits) fail("`linear_displacement_offset` has to be " + d + " rows of " + d + " numbers in " + d + "D");
  for (int j = 0; j < dim; ++j)
    for (int i = 0; i < dim && !entry.macro_strain.empty(); ++i)
      if (!spec.periods && !spec.axes[j] && constant_of(entry.macro_strain[i][j]) != 0)
        fail("column " + std::to_string(j) +
             " of `linear_displacement_offset` has to be zero: the cell does "
             "not repeat along that axis, and its sides there are free");
  spec.displacement_gradient = [&entry](double time) {
    Matrix H = Matrix::Zero();
    if (entry.macro_strain.empty()) return H;
    ExpressionPoint at;
    at.t = time;
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j) {
        H(i, j) = entry.macro_strain[i][j](at);
        if (!std::isfinite(H(i, j)))
          throw InputError(entry.where, "entry (" + std::to_string(i) + ", " + std::to_string(j) +
                                            ") of `linear_displacement_offset` has no finite value at t = " +
                                            std::to_string(time));
      }
    return H;
  };
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
