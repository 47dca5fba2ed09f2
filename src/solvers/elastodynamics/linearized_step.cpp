#include "solvers/elastodynamics/linearized_step.hpp"

#include <algorithm>

#include "recoil/base/error.hpp"
#include "recoil/linalg/nonsymmetric_solve.hpp"

namespace recoil::solvers {

namespace {
/// Flexible GMRES around solves of the symmetric part: looser ones cost more products of the whole.
constexpr double preconditioner_tolerance = 1e-6;
constexpr int max_nonsymmetric_iterations = 300;
} // namespace

template <int dim>
LinearizedStep<dim>::LinearizedStep(ElastodynamicsProblem<dim>& problem, const ElastodynamicsOptions& options,
                                    IncrementalPotential<dim>& objective, GlobalIndex num_records)
    : problem_(problem), options_(options), objective_(objective), num_records_(num_records) {
  if (!problem.contact) return;
  RECOIL_ASSERT(options.barrier_stiffness && options.friction_iterations <= 1);
  stiffness_ = physical_barrier_stiffness(options);
}

/// The parts of a repeated static solve carry equal shares of the load.
template <int dim>
typename LinearizedStep<dim>::Moment LinearizedStep<dim>::moment_of(GlobalIndex id, double time) const {
  if (options_.dynamics != Dynamics::statics) return {time, 1};
  return {1, static_cast<double>(id) / static_cast<double>(num_records_ - 1)};
}

template <int dim>
void LinearizedStep<dim>::linearize(const stepping::StepRecord& record, const stepping::State& now,
                                    const stepping::State& previous) {
  record_ = &record;
  now_ = &now;
  previous_ = &previous;
  const bool inertia = record.coefficients.order > 0;
  const double B = record.coefficients.scaled_dt(record.dt), scale = inertia ? B * B : 1;
  const Moment moment = moment_of(record.id, record.time);
  // The Hessian of the inertial term does not depend on where it is centred; here its gradient is zero.
  objective_.begin_step({moment.time, record.dt, moment.load_factor, previous.u.local()},
                        inertia ? problem_.mass.get() : nullptr, now.u, scale);
  if (problem_.contact) {
    linearize_contact();
    objective_.set_stiffness({stiffness_ * scale, stiffness_ * scale, 0});
  }
  objective_.assemble_hessian(now.u, newton::Projection::none);
}

template <int dim>
linalg::Vector LinearizedStep<dim>::gradient() {
  linalg::Vector g(now_->u.shared_layout());
  objective_.gradient(now_->u, g);
  g.scale(1 / objective_.scale());
  return g;
}

template <int dim>
typename LinearizedStep<dim>::Moment LinearizedStep<dim>::start() const {
  return moment_of(record_->predecessors().front(), record_->time - record_->dt);
}

/// In the physical energy of the step.
template <int dim>
double LinearizedStep<dim>::factor_of(const potentials::Potential<dim>& potential) const {
  return &potential == problem_.barrier ? stiffness_ : 1;
}

/// Repeats what the forward step did before its solve: friction lagged at the previous state, or at the
/// converged one.
template <int dim>
void LinearizedStep<dim>::linearize_contact() {
  potentials::ContactState<dim>& contact = *problem_.contact;
  const Moment before = start(), after = end();
  contact.set_obstacle_displacement(problem_.obstacle_motion(before.time, before.load_factor));
  contact.clear_friction();
  contact.start_step(previous_->u.local());
  const double length = record_->dt > 0 ? record_->dt : 1;
  if (options_.friction_iterations > 0) contact.lag_friction(stiffness_, length);
  contact.set_obstacle_displacement(problem_.obstacle_motion(after.time, after.load_factor));
  if (options_.friction_iterations >= 0) return;
  contact.update(now_->u.local());
  contact.lag_friction(stiffness_, length, potentials::LaggedAt::end);
}

template <int dim>
const potentials::MassMatrix<dim>* LinearizedStep<dim>::mass() const {
  return options_.dynamics == Dynamics::dynamic ? problem_.mass.get() : nullptr;
}

template <int dim>
void LinearizedStep<dim>::multiply_mass(const linalg::Vector& x, linalg::Vector& y) const {
  y.fill(0);
  if (mass() != nullptr) mass()->add_product(x.local(), 1, y.write_owned());
  y.update_ghosts();
}

template <int dim>
stepping::LinearSolve LinearizedStep<dim>::solve(const linalg::Vector& b, linalg::Vector& x,
                                                 double relative_tolerance, UnsymmetricProduct product) {
  linalg::Vector rhs = b;
  problem_.dirichlet->clear(rhs.write_owned());
  const bool symmetric = std::ranges::none_of(
      problem_.terms, [](const Term<dim>& term) { return term.potential->has_unsymmetric_part(); });
  const linalg::LinearResult result = symmetric ? objective_.solve_stationary(rhs, x, relative_tolerance)
                                                : solve_nonsymmetric(rhs, x, relative_tolerance, product);
  return {result.outcome == linalg::LinearOutcome::converged, result.iterations, result.relative_residual};
}

/// Preconditioned by the symmetric part, without L.
template <int dim>
linalg::LinearResult LinearizedStep<dim>::solve_nonsymmetric(const linalg::Vector& b, linalg::Vector& x,
                                                             double relative_tolerance,
                                                             UnsymmetricProduct product) {
  const double scale = objective_.scale();
  linalg::NonsymmetricSystem system;
  system.multiply = [&](const linalg::Vector& in, linalg::Vector& out) {
    objective_.multiply_hessian(in, out);
    for_each_term([&](const Potential& potential, double factor) {
      (potential.*product)(in.local(), scale * factor, out.write_owned());
    });
    problem_.dirichlet->clear(out.write_owned());
  };
  system.precondition = [&](const linalg::Vector& in, linalg::Vector& out) {
    objective_.solve_stationary(in, out, preconditioner_tolerance);
  };
  return linalg::solve_nonsymmetric(system, b, x, relative_tolerance, max_nonsymmetric_iterations);
}

template class LinearizedStep<2>;
template class LinearizedStep<3>;

} // namespace recoil::solvers
