#include <algorithm>
#include <cmath>

#include "recoil/geometry/barrier.hpp"
#include "solvers/elastodynamics/incremental_potential.hpp"

namespace recoil::solvers {

namespace {

// Constants of the IPC reference implementation.
constexpr double reference_distance = 1e-8; // of the diagonal
constexpr double tiny_distance = 1e-9;      // of the diagonal
constexpr double least_curvature = 1e11;    // per mean mass
constexpr double range = 100;

/// Total mass over the number of nodes and obstacle vertices.
template <int dim>
double mean_mass(const ElastodynamicsProblem<dim>& problem) {
  double mass = 0;
  for (const double entry : problem.mass->entries()) mass += entry;
  const auto num_vertices =
      problem.space->num_nodes_global() + problem.contact->surface().num_obstacle_vertices_global();
  return problem.space->comm().sum(mass) / num_vertices;
}

/// Mean weight of the surface vertices, so that areas do not decide how stiff the convergent barrier is. What
/// there is more than once of a cell that repeats counts once, wherever the cell is cut out of its material.
template <int dim>
double mean_weight(const ElastodynamicsProblem<dim>& problem) {
  const auto& surface = problem.contact->surface();
  const auto& copies = surface.parts().copies;
  std::array<double, 2> sums{};
  for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
    const auto& vertex = surface.vertices()[v];
    if (copies && copies->cell_of_vertex[v] != 0) continue;
    const auto* sides = problem.periodic ? problem.periodic->on_sides(vertex.id) : nullptr;
    if (sides != nullptr && sides->leader != vertex.id) continue;
    sums[0] += problem.contact->barrier().vertex_weight(vertex.area);
    ++sums[1];
  }
  surface.comm().sum(sums);
  return sums[0] / sums[1];
}

/// Diagonal of the box around all surfaces, or around a cell that repeats [m].
template <int dim>
double diagonal_of(const ElastodynamicsProblem<dim>& problem) {
  if (!problem.periodic) return problem.contact->bounding_box().diagonal().norm();
  const auto& mesh = problem.space->mesh();
  return (mesh.max_corner - mesh.min_corner).norm();
}

template <int dim>
potentials::Barrier<dim> plain_barrier(double dhat) {
  return {dhat, potentials::BarrierForm::plain, {}};
}

/// The factor of the gradient b of the barrier at which it balances that of everything else best, -(b . g) /
/// (b . b); 1 where nothing is in contact. Collective.
template <int dim>
double balance(const ElastodynamicsProblem<dim>& problem, const linalg::Vector& gradient_without_contact) {
  const auto forces = problem.barrier->gradient();
  linalg::Vector b(gradient_without_contact.shared_layout()), g(gradient_without_contact);
  problem.contact->add_to_nodes(forces, 1, b.write_owned());
  double squares = 0;
  if (problem.periodic) {
    // Of nodes that follow others, and of copies, count the unknowns that they move with: then it does not
    // matter where a material is cut into cells.
    problem.reduce(b);
    problem.reduce(g);
    squares = b.dot(b);
  } else {
    for (const auto& force : forces) squares += force.squaredNorm();
    squares = problem.space->comm().sum(squares);
  }
  return squares > 0 ? -b.dot(g) / squares : 1;
}

} // namespace

double physical_barrier_stiffness(const ElastodynamicsOptions& options) {
  return *options.barrier_stiffness / options.stiffness_unit;
}

template <int dim>
BarrierStiffness barrier_stiffness(const ElastodynamicsProblem<dim>& problem,
                                   const ElastodynamicsOptions& options, double scale,
                                   const linalg::Vector& gradient_without_contact) {
  const potentials::ContactState<dim>& contact = *problem.contact;
  if (options.barrier_stiffness) return {scale * physical_barrier_stiffness(options), 0, 0};
  const double diagonal = diagonal_of(problem);
  const double dhat = contact.parameters().dhat;
  double y0 = std::pow(reference_distance * diagonal, 2); // a squared distance
  // In a large scene with a small dhat the reference distance would lie outside the barrier.
  if (y0 >= dhat * dhat) y0 = 0.5 * dhat * dhat;
  const double of_a_pair = contact.barrier().form().squared
                               ? 4 * y0 * geometry::log_barrier(y0, dhat * dhat).second
                               : geometry::log_barrier(std::sqrt(y0), dhat).second;
  // The geometric contact potential grows faster towards 0 than the plain form: its pairs are as stiff where
  // bodies at rest are, at a tenth of dhat.
  const auto& barrier = contact.barrier();
  const double y = 0.01 * dhat * dhat;
  const double relative = barrier.form().geometric ? barrier.force_per_weight(y).slope /
                                                         plain_barrier<dim>(dhat).force_per_weight(y).slope
                                                   : 1;
  const double curvature = mean_weight(problem) * relative * of_a_pair;
  const double mass = options.dynamics == Dynamics::dynamic ? mean_mass(problem) : 1;
  BarrierStiffness stiffness;
  const double least = least_curvature * mass / curvature;
  stiffness.largest = range * least;
  stiffness.tiny_distance = options.dynamics == Dynamics::dynamic ? tiny_distance * diagonal : 0;

  stiffness.value = std::clamp(balance(problem, gradient_without_contact), least, stiffness.largest);
  return stiffness;
}

template BarrierStiffness barrier_stiffness(const ElastodynamicsProblem<2>&, const ElastodynamicsOptions&,
                                            double, const linalg::Vector&);
template BarrierStiffness barrier_stiffness(const ElastodynamicsProblem<3>&, const ElastodynamicsOptions&,
                                            double, const linalg::Vector&);

} // namespace recoil::solvers
