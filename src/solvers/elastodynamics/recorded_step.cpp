#include "solvers/elastodynamics/recorded_step.hpp"

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
RecordedStep<dim>::RecordedStep(ElastodynamicsProblem<dim>& problem, const ElastodynamicsOptions& options,
                                IncrementalPotential<dim>& objective, GlobalIndex num_records,
                                SweepProducts<dim>& products)
    : problem_(problem), options_(options), objective_(objective), num_records_(num_records),
      products_(products) {
  if (!problem.contact) return;
  RECOIL_ASSERT(options.barrier_stiffness && options.friction_iterations <= 1);
  stiffness_ = physical_barrier_stiffness(options);
}

/// The parts of a repeated static solve carry equal shares of the load.
template <int dim>
typename RecordedStep<dim>::Moment RecordedStep<dim>::moment_of(GlobalIndex id, double time) const {
  if (options_.dynamics != Dynamics::statics) return {time, 1};
  return {1, static_cast<double>(id) / static_cast<double>(num_records_ - 1)};
}

template <int dim>
void RecordedStep<dim>::linearize(const stepping::StepRecord& record, const stepping::State& now,
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
    linearize_contact(record.dt);
    objective_.set_stiffness({stiffness_ * scale, stiffness_ * scale, 0});
  }
  gradient_ = linalg::Vector(now.u.shared_layout());
  objective_.gradient(now.u, gradient_);
  objective_.assemble_hessian(now.u, newton::Projection::none);
}

template <int dim>
double RecordedStep<dim>::gradient_product(const linalg::Vector& p) {
  return p.dot(gradient_) / objective_.scale();
}

/// In the physical energy of the step.
template <int dim>
double RecordedStep<dim>::factor_of(const potentials::Potential<dim>& potential) const {
  return &potential == problem_.barrier ? stiffness_ : 1;
}

/// Repeats what the forward step did before its solve: friction lagged at the previous state, or at the
/// converged one.
template <int dim>
void RecordedStep<dim>::linearize_contact(double dt) {
  potentials::ContactState<dim>& contact = *problem_.contact;
  const Moment before = moment_of(record_->predecessors().front(), record_->time - dt),
               after = moment_of(record_->id, record_->time);
  contact.set_obstacle_displacement(problem_.obstacle_motion(before.time, before.load_factor));
  contact.clear_friction();
  contact.start_step(previous_->u.local());
  const double length = dt > 0 ? dt : 1;
  if (options_.friction_iterations > 0) contact.lag_friction(stiffness_, length);
  contact.set_obstacle_displacement(problem_.obstacle_motion(after.time, after.load_factor));
  if (options_.friction_iterations >= 0) return;
  contact.update(now_->u.local());
  contact.lag_friction(stiffness_, length, potentials::LaggedAt::end);
}

template <int dim>
void RecordedStep<dim>::multiply_mass(const linalg::Vector& x, linalg::Vector& y) {
  if (options_.dynamics != Dynamics::dynamic) {
    y.fill(0);
    return;
  }
  problem_.mass->multiply(x.local(), y.write_owned());
  y.update_ghosts();
}

template <int dim>
stepping::LinearSolve RecordedStep<dim>::solve(const linalg::Vector& b, linalg::Vector& x,
                                               double relative_tolerance) {
  linalg::Vector rhs = b;
  problem_.dirichlet->clear(rhs.write_owned());
  const bool symmetric = std::ranges::none_of(
      problem_.terms, [](const Term<dim>& term) { return term.potential->has_unsymmetric_part(); });
  const linalg::LinearResult result = symmetric ? objective_.solve_stationary(rhs, x, relative_tolerance)
                                                : solve_nonsymmetric(rhs, x, relative_tolerance);
  return {result.outcome == linalg::LinearOutcome::converged, result.iterations, result.relative_residual};
}

/// [M + B^2 (H + L)'] x = b, preconditioned by the symmetric part without L.
template <int dim>
linalg::LinearResult RecordedStep<dim>::solve_nonsymmetric(const linalg::Vector& b, linalg::Vector& x,
                                                           double relative_tolerance) {
  const double scale = objective_.scale();
  linalg::NonsymmetricSystem system;
  system.multiply = [&](const linalg::Vector& in, linalg::Vector& out) {
    objective_.multiply_hessian(in, out);
    for (const Term<dim>& term : problem_.terms)
      term.potential->add_unsymmetric_product(in.local(), scale * factor_of(*term.potential),
                                              out.write_owned());
    problem_.dirichlet->clear(out.write_owned());
  };
  system.precondition = [&](const linalg::Vector& in, linalg::Vector& out) {
    objective_.solve_stationary(in, out, preconditioner_tolerance);
  };
  return linalg::solve_nonsymmetric(system, b, x, relative_tolerance, max_nonsymmetric_iterations);
}

template <int dim>
void RecordedStep<dim>::multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) {
  y.fill(0);
  for (const Term<dim>& term : problem_.terms)
    term.potential->add_hessian_product(now_->u.local(), x.local(), factor_of(*term.potential),
                                        y.write_owned());
  y.update_ghosts();
}

template <int dim>
void RecordedStep<dim>::multiply_previous(const linalg::Vector& x, linalg::Vector& y) {
  y.fill(0);
  for (const Term<dim>& term : problem_.terms)
    term.potential->add_previous_product(now_->u.local(), x.local(), factor_of(*term.potential),
                                         y.write_owned());
  y.update_ghosts();
}

template <int dim>
void RecordedStep<dim>::add_parameter_products(std::size_t objective, const linalg::Vector& p,
                                               double factor) {
  parameters::PhysicalGradient<dim>& gradient = products_.gradients[objective];
  for (const Term<dim>& term : problem_.terms)
    term.potential->add_parameter_products(now_->u.local(), p.local(), factor * factor_of(*term.potential),
                                           gradient);
  if (products_.loads) products_.loads(objective, record_->time);
  namespace by = parameters::quantities;
  const Moment before = moment_of(record_->predecessors().front(), record_->time - record_->dt),
               after = moment_of(record_->id, record_->time);
  products_.take_obstacles(objective, by::obstacle_positions, after.time, after.load_factor);
  products_.take_obstacles(objective, by::previous_obstacle_positions, before.time, before.load_factor);
}

template <int dim>
void RecordedStep<dim>::add_mass_products(std::size_t objective, const linalg::Vector& p,
                                          const linalg::Vector& x) {
  if (!products_.wants_mass || options_.dynamics != Dynamics::dynamic) return;
  problem_.mass->add_parameter_products(p.local(), x.local(), 1, products_.gradients[objective]);
}

template <int dim>
void RecordedStep<dim>::add_prescribed_products(std::size_t objective, const linalg::Vector& y) {
  const Moment moment = moment_of(record_->id, record_->time);
  products_.prescribed(objective, moment.time, moment.load_factor, y);
}

template <int dim>
void RecordedStep<dim>::add_initial_products(std::size_t objective, const linalg::Vector& y,
                                             const linalg::Vector& z) {
  if (products_.initial) products_.initial(objective, y, z);
}

template class RecordedStep<2>;
template class RecordedStep<3>;

} // namespace recoil::solvers
