#include "recoil/solvers/elastodynamics/ledger.hpp"

#include <vector>

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

/// f.w over owned entries, split into prescribed and free ones.
struct Work {
  double free = 0, prescribed = 0;
};

Work work(std::span<const double> force, std::span<const double> increment,
          std::span<const char> prescribed) {
  Work result;
  for (std::size_t i = 0; i < force.size(); ++i)
    (prescribed[i] != 0 ? result.prescribed : result.free) += force[i] * increment[i];
  return result;
}

/// Works of contact forces over the step. `prescribed` is this rank's share, the others are sums over ranks.
struct ContactWork {
  double barrier = 0, friction = 0; ///< done against them
  double obstacles = 0;             ///< by what moves obstacles
  double prescribed = 0;            ///< by what moves prescribed nodes
  double barrier_energy = 0;
};

template <int dim>
ContactWork contact_work(const ElastodynamicsProblem<dim>& problem, std::span<const double> increment,
                         double stiffness) {
  const potentials::Contact<dim>& contact = *problem.contact;
  const auto barrier = contact.barrier_gradient(), friction = contact.friction_gradient();
  const auto of_barrier = contact.work(barrier), of_friction = contact.work(friction);
  std::vector<double> force(increment.size(), 0.0);
  contact.add_to_nodes(barrier, stiffness, force);
  contact.add_to_nodes(friction, 1, force);
  ContactWork result;
  result.barrier = stiffness * of_barrier.total;
  result.friction = of_friction.total;
  result.obstacles = stiffness * of_barrier.obstacles + of_friction.obstacles;
  result.prescribed = work(force, increment, problem.dirichlet->flags()).prescribed;
  result.barrier_energy = stiffness * problem.space->comm().sum(contact.barrier_value());
  return result;
}

} // namespace

template <int dim>
Ledger measure_state(const ElastodynamicsProblem<dim>& problem, const linalg::Vector& u,
                     const linalg::Vector& v) {
  std::array<double, 2> energies{0.5 * problem.mass->product(v.local(), v.local()), 0};
  for (const auto& potential : problem.elastic) energies[1] += potential->value(u.local());
  problem.space->comm().sum(energies);
  Ledger ledger;
  ledger.kinetic = energies[0];
  ledger.elastic = energies[1];
  const std::array<double, 6> both = momenta(problem, u, v);
  for (std::size_t i = 0; i < 3; ++i) {
    ledger.linear_momentum[i] = both[i];
    ledger.angular_momentum[i] = both[3 + i];
  }
  return ledger;
}

template <int dim>
Ledger close_step(const ElastodynamicsProblem<dim>& problem, const Ledger& before,
                  const StepForLedger<dim>& step, double barrier_stiffness) {
  Ledger after = measure_state(problem, *step.u, *step.v);
  const auto u = step.u->local();
  const std::size_t size = step.u->owned().size();
  std::vector<double> increment(size), force(size);
  for (std::size_t i = 0; i < size; ++i) increment[i] = u[i] - step.u_previous->local()[i];
  const auto flags = problem.dirichlet->flags();
  const auto work_of = [&](const auto& potentials) {
    force.assign(size, 0.0);
    for (const auto& potential : potentials) potential->add_gradient(u, 1, force);
    return work(force, increment, flags);
  };
  const Work elastic = work_of(problem.elastic), damping = work_of(problem.damping),
             loads = work_of(problem.loads);
  Work inertia;
  if (step.acceleration != nullptr) {
    problem.mass->multiply(step.acceleration->local(), force);
    inertia = work(force, increment, flags);
  }
  ContactWork contact;
  if (problem.contact) contact = contact_work(problem, increment, barrier_stiffness);
  // Gradients of load potentials are minus the forces; on prescribed entries the residual is the force that
  // moves them.
  std::array<double, 4> sums{-loads.free - loads.prescribed + inertia.prescribed + elastic.prescribed +
                                 damping.prescribed + loads.prescribed + contact.prescribed,
                             damping.free + damping.prescribed, inertia.free + inertia.prescribed,
                             elastic.free + elastic.prescribed};
  problem.space->comm().sum(sums);
  after.external_work = before.external_work + sums[0] + contact.obstacles;
  after.barrier = contact.barrier_energy;
  after.dissipated_friction = before.dissipated_friction + contact.friction;
  after.dissipated_damping = before.dissipated_damping + sums[1];
  const double kinetic_part = step.acceleration != nullptr ? sums[2] - (after.kinetic - before.kinetic) : 0;
  after.dissipated_integrator = before.dissipated_integrator + kinetic_part + sums[3] -
                                (after.elastic - before.elastic) + contact.barrier -
                                (after.barrier - before.barrier);
  return after;
}

template Ledger measure_state(const ElastodynamicsProblem<2>&, const linalg::Vector&, const linalg::Vector&);
template Ledger measure_state(const ElastodynamicsProblem<3>&, const linalg::Vector&, const linalg::Vector&);
template Ledger close_step(const ElastodynamicsProblem<2>&, const Ledger&, const StepForLedger<2>&, double);
template Ledger close_step(const ElastodynamicsProblem<3>&, const Ledger&, const StepForLedger<3>&, double);

} // namespace recoil::solvers
