#include "recoil/solvers/elastodynamics/ledger.hpp"

#include <vector>

#include "recoil/solvers/elastodynamics/problem.hpp"

namespace recoil::solvers {

namespace {

template <int dim>
std::array<double, 6> momenta(const ElastodynamicsProblem<dim>& problem, const linalg::Vector& u,
                              const linalg::Vector& v) {
  std::array<double, 6> result{};
  std::vector<double> p(v.owned().size());
  problem.mass->multiply(v.local(), p);
  for (LocalIndex node = 0; node < problem.space->num_owned_nodes(); ++node) {
    Eigen::Vector3d x = Eigen::Vector3d::Zero(), momentum = Eigen::Vector3d::Zero();
    x.head<dim>() = problem.space->node_positions()[node] + fem::node_block<dim>(u.local(), node);
    momentum.head<dim>() = fem::node_block<dim>(std::span<const double>(p), node);
    const Eigen::Vector3d angular = x.cross(momentum);
    for (int i = 0; i < 3; ++i) {
      result[i] += momentum[i];
      result[3 + i] += angular[i];
    }
  }
  problem.space->comm().sum(result);
  return result;
}

/// Work of forces over the step, shares of this rank.
struct Work {
  double total = 0;      ///< done against them
  double prescribed = 0; ///< by what moves prescribed nodes
};

/// Adds what prescribed components bear to `support_forces`, unless that is empty.
template <int dim>
Work work_against(std::span<const double> gradient, std::span<const double> increment,
                  const ElastodynamicsProblem<dim>& problem, std::span<double> support_forces) {
  Work work;
  const auto prescribed = problem.dirichlet->flags();
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double share = gradient[i] * increment[i];
    work.total += share;
    const bool is_prescribed = prescribed[i] != 0;
    if (!is_prescribed && !(problem.periodic && problem.periodic->coupled()[i] != 0)) continue;
    work.prescribed += share;
    if (is_prescribed && !support_forces.empty()) support_forces[i] += gradient[i];
  }
  return work;
}

/// Kinetic energy and momenta.
template <int dim>
Ledger measure_motion(const ElastodynamicsProblem<dim>& problem, const linalg::Vector& u,
                      const linalg::Vector& v) {
  Ledger ledger;
  ledger.kinetic = problem.space->comm().sum(0.5 * problem.mass->product(v.local(), v.local()));
  const std::array<double, 6> both = momenta(problem, u, v);
  for (std::size_t i = 0; i < 3; ++i) {
    ledger.linear_momentum[i] = both[i];
    ledger.angular_momentum[i] = both[3 + i];
  }
  return ledger;
}

/// What the step adds on this rank: energies at its end, works over it. The entry of the integrator is the
/// work against inertia and the forces of stored energies.
template <int dim>
Ledger shares_of_step(const ElastodynamicsProblem<dim>& problem, const StepForLedger<dim>& step,
                      double barrier_stiffness, std::span<double> support_forces) {
  const auto u = step.u->local();
  const std::size_t size = step.u->owned().size();
  std::vector<double> increment(size), gradient(size);
  for (std::size_t i = 0; i < size; ++i) increment[i] = u[i] - step.u_previous->local()[i];
  Ledger shares;
  for (const Term<dim>& term : problem.terms) {
    const potentials::Potential<dim>& potential = *term.potential;
    const double factor = &potential == problem.barrier ? barrier_stiffness : 1;
    gradient.assign(size, 0.0);
    potential.add_gradient(u, factor, gradient);
    const double by_obstacles = factor * potential.obstacle_work();
    Work work = work_against(gradient, increment, problem, support_forces);
    work.total += by_obstacles;
    // On prescribed entries the residual is the force that moves them.
    shares.external_work += work.prescribed + by_obstacles;
    if (term.accounting == Accounting::energy) {
      shares.*term.entry += factor * potential.value(u);
      shares.dissipated_integrator += work.total;
    } else {
      // Gradients of load potentials are minus the forces.
      shares.*term.entry += term.accounting == Accounting::work ? -work.total : work.total;
    }
  }
  if (step.acceleration != nullptr) {
    problem.mass->multiply(step.acceleration->local(), gradient);
    const Work work = work_against(gradient, increment, problem, support_forces);
    shares.external_work += work.prescribed;
    shares.dissipated_integrator += work.total;
  }
  return shares;
}

} // namespace

template <int dim>
Ledger measure_state(const ElastodynamicsProblem<dim>& problem, const linalg::Vector& u,
                     const linalg::Vector& v) {
  Ledger ledger = measure_motion(problem, u, v);
  double elastic = 0;
  for (const auto* potential : problem.elastic) elastic += potential->value(u.local());
  ledger.elastic = problem.space->comm().sum(elastic);
  return ledger;
}

template <int dim>
Ledger close_step(const ElastodynamicsProblem<dim>& problem, const Ledger& before,
                  const StepForLedger<dim>& step, double barrier_stiffness,
                  std::span<double> support_forces) {
  Ledger added = shares_of_step(problem, step, barrier_stiffness, support_forces);
  for (const auto& [name, energy] : Ledger::energies())
    added.*energy = problem.space->comm().sum(added.*energy);
  Ledger after = measure_motion(problem, *step.u, *step.v);
  after.elastic = added.elastic;
  after.barrier = added.barrier;
  after.external_work = before.external_work + added.external_work;
  after.dissipated_friction = before.dissipated_friction + added.dissipated_friction;
  after.dissipated_damping = before.dissipated_damping + added.dissipated_damping;
  double gained = after.elastic - before.elastic + after.barrier - before.barrier;
  if (step.acceleration != nullptr) gained += after.kinetic - before.kinetic;
  after.dissipated_integrator = before.dissipated_integrator + added.dissipated_integrator - gained;
  return after;
}

template Ledger measure_state(const ElastodynamicsProblem<2>&, const linalg::Vector&, const linalg::Vector&);
template Ledger measure_state(const ElastodynamicsProblem<3>&, const linalg::Vector&, const linalg::Vector&);
template Ledger close_step(const ElastodynamicsProblem<2>&, const Ledger&, const StepForLedger<2>&, double,
                           std::span<double>);
template Ledger close_step(const ElastodynamicsProblem<3>&, const Ledger&, const StepForLedger<3>&, double,
                           std::span<double>);

} // namespace recoil::solvers
