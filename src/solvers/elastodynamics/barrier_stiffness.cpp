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

/// Mean weight of the surface vertices, so that areas do not decide how stiff the convergent barrier is.
template <int dim>
double mean_weight(const potentials::ContactState<dim>& contact) {
  const auto& surface = contact.surface();
  std::array<double, 2> sums{};
  sums[1] = surface.num_owned();
  for (LocalIndex v = 0; v < surface.num_owned(); ++v)
    sums[0] += contact.barrier().vertex_weight(surface.vertices()[v].area);
  surface.comm().sum(sums);
  return sums[0] / sums[1];
}

template <int dim>
potentials::Barrier<dim> plain_barrier(double dhat) {
  return {dhat, potentials::BarrierForm::plain, {}};
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
  const double diagonal = contact.bounding_box().diagonal().norm();
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
  const double curvature = mean_weight(contact) * relative * of_a_pair;
  const double mass = options.dynamics == Dynamics::dynamic ? mean_mass(problem) : 1;
  BarrierStiffness stiffness;
  const double least = least_curvature * mass / curvature;
  stiffness.largest = range * least;
  stiffness.tiny_distance = options.dynamics == Dynamics::dynamic ? tiny_distance * diagonal : 0;

  const auto forces = problem.barrier->gradient();
  std::vector<double> at_nodes(gradient_without_contact.owned().size(), 0.0);
  contact.add_to_nodes(forces, 1, at_nodes);
  std::array<double, 2> sums{};
  for (const auto& force : forces) sums[0] += force.squaredNorm();
  for (std::size_t i = 0; i < at_nodes.size(); ++i)
    sums[1] += at_nodes[i] * gradient_without_contact.owned()[i];
  problem.space->comm().sum(sums);
  const double balanced = sums[0] > 0 ? -sums[1] / sums[0] : 1;
  stiffness.value = std::clamp(balanced, least, stiffness.largest);
  return stiffness;
}

template BarrierStiffness barrier_stiffness(const ElastodynamicsProblem<2>&, const ElastodynamicsOptions&,
                                            double, const linalg::Vector&);
template BarrierStiffness barrier_stiffness(const ElastodynamicsProblem<3>&, const ElastodynamicsOptions&,
                                            double, const linalg::Vector&);

} // namespace recoil::solvers
