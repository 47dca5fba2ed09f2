#include "solvers/elastodynamics/step_solver.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "recoil/base/log.hpp"
#include "recoil/solvers/elastodynamics/norms.hpp"

namespace recoil::solvers {

namespace {
/// Lagged friction that is to converge, but cycles or creeps, is given up.
constexpr int most_friction_passes = 100, friction_patience = 20;
constexpr double noticeable_progress = 0.9;
/// Solves of a body that turns into balance.
constexpr int most_turns = 30;
/// Contact forces dominate the residual; the exact solve of contact removes them at once and a loose
/// tolerance would leave the bodies where they were.
constexpr double contact_forcing = 5e-4;
} // namespace

template <int dim>
StepSolver<dim>::StepSolver(ElastodynamicsProblem<dim>& problem, const ElastodynamicsOptions& options)
    : problem_(problem), options_(options),
      objective_(problem, options.linear_method, options.gradient_norm) {
  newton_ = options.newton;
  if (problem.contact) newton_.forcing.first = newton_.forcing.largest = contact_forcing;
  if (options.dynamics == Dynamics::statics && options.regularization_weight > 0)
    regularization_ =
        std::make_unique<potentials::MassMatrix<dim>>(*problem.space, options.regularization_weight);
  if (options.dynamics == Dynamics::dynamic || regularization_ || problem.periodic) return;
  loose_ = LooseMotions<dim>::find(problem);
  if (loose_)
    objective_.leave_out(&loose_->certain());
  else
    floating_ = LooseMotions<dim>::find_floating(problem);
}

template <int dim>
bool StepSolver<dim>::minimize(const newton::NewtonOptions& options, SolvedStep& solved) {
  solved.newton = newton::minimize(objective_, manifold_, solved.u, options);
  const newton::NewtonResult& result = solved.newton;
  solved.newton_iterations += result.iterations;
  solved.linear_iterations += result.linear_iterations;
  totals_.newton_iterations += result.iterations;
  totals_.linear_iterations += result.linear_iterations;
  totals_.projected += result.projected;
  totals_.chord_steps += result.chord_steps;
  totals_.assembly_seconds += result.assembly_seconds;
  totals_.linear_solve_seconds += result.linear_solve_seconds;
  totals_.line_search_seconds += result.line_search_seconds;
  totals_.gradient_seconds += result.gradient_seconds;
  totals_.collision_seconds = objective_.collision_seconds();
  return result.converged();
}

template <int dim>
void StepSolver<dim>::balance_stiffness(const linalg::Vector& u) {
  problem_.contact->update(u.local());
  linalg::Vector g(u.shared_layout());
  objective_.gradient_without_contact(u, g);
  objective_.set_stiffness(barrier_stiffness(problem_, options_, objective_.scale(), g));
}

template <int dim>
void StepSolver<dim>::start_contact(const stepping::History& past, const StepTarget& target) {
  const linalg::Vector& u = past.newest().u;
  problem_.start_contact(u.local());
  balance_stiffness(u);
  if (options_.friction_iterations == 0) return;
  // Before the first solve there is no balance to speak of (PolyFEM's key initial_barrier_stiffness).
  const bool first = past.newest().id == 0 && !options_.barrier_stiffness;
  problem_.lag_friction(
      u.local(), first ? options_.initial_barrier_stiffness : objective_.stiffness() / objective_.scale(),
      target.dt > 0 ? target.dt : 1);
}

/// Norm of the gradient at u with the frames and normal forces of u itself.
template <int dim>
double StepSolver<dim>::friction_residual(const linalg::Vector& u, double dt) {
  problem_.lag_friction(u.local(), objective_.stiffness() / objective_.scale(), dt);
  linalg::Vector g(u.shared_layout());
  objective_.gradient(u, g);
  return g.norm();
}

/// Whether all that the options demand of friction_residual(u, dt), just asked for, holds. Only a share of
/// the contact forces means the same in any units, for bodies and steps of any size.
template <int dim>
bool StepSolver<dim>::friction_has_converged(double residual, const linalg::Vector& u, double dt) const {
  if (residual > options_.friction_convergence_tol * dt) return false;
  if (std::isinf(options_.friction_tolerance)) return true;
  linalg::Vector contact(u.shared_layout());
  problem_.barrier->add_gradient(u.local(), objective_.stiffness(), contact.write_owned());
  const auto norm = [&] {
    // What the pairs across all sides sum up to at the nodes that a cell is measured between would drown
    // them.
    if (problem_.periodic) problem_.reduce(contact);
    return contact.norm();
  };
  double forces = norm();
  if (problem_.tangential_adhesion != nullptr) {
    contact.fill(0);
    problem_.adhesion->add_gradient(u.local(), objective_.scale(), contact.write_owned());
    forces += norm();
  }
  return residual <= options_.friction_tolerance * forces;
}

template <int dim>
bool StepSolver<dim>::minimize_with_friction(const StepTarget& target, linalg::Vector& u_tilde,
                                             SolvedStep& solved) {
  const int limit = options_.friction_iterations < 0 ? most_friction_passes : options_.friction_iterations;
  const bool frictional = problem_.is_frictional() && limit > 0;
  const double dt = target.dt > 0 ? target.dt : 1;
  double best = std::numeric_limits<double>::infinity();
  int best_pass = 0;
  for (int pass = 1;; ++pass) {
    if (!minimize(newton_, solved)) {
      if (!solved.newton.ran_out() || !options_.accept_out_of_iterations) return false;
      log_warning(
          "Newton's method has run out of iterations; its last iterate is taken, as the scene allows");
    }
    if (!frictional || limit == 1) return true;
    if (regularization_) {
      u_tilde.copy_from(solved.u);
      if (pass >= options_.regularization_passes) objective_.drop_inertia();
    }
    const double residual = friction_residual(solved.u, dt);
    if (friction_has_converged(residual, solved.u, dt)) return true;
    // The next solve would end where it starts.
    if (pass > 1 && solved.newton.iterations == 0 && !std::isfinite(options_.friction_convergence_tol))
      return true;
    if (residual < noticeable_progress * best) {
      best = residual;
      best_pass = pass;
    }
    if (pass >= limit || pass - best_pass >= friction_patience) {
      std::ostringstream text;
      text << "friction has not converged after " << pass << " passes, residual " << residual;
      options_.friction_iterations < 0 ? log_warning(text.str()) : log_debug(text.str());
      if (options_.friction_iterations < 0) ++totals_.rough_friction;
      return true;
    }
    balance_stiffness(solved.u);
  }
}

template <int dim>
void StepSolver<dim>::record_forces(SolvedStep& solved) const {
  problem_.contact->update(solved.u.local());
  solved.contact_force = linalg::Vector(solved.u.shared_layout());
  solved.friction_force = solved.contact_force;
  problem_.barrier->add_gradient(solved.u.local(), -objective_.stiffness() / objective_.scale(),
                                 solved.contact_force.write_owned());
  if (problem_.adhesion != nullptr) {
    problem_.adhesion->update(solved.u.local());
    problem_.adhesion->add_gradient(solved.u.local(), -1, solved.contact_force.write_owned());
  }
  problem_.friction->add_gradient(solved.u.local(), -1, solved.friction_force.write_owned());
  if (problem_.tangential_adhesion != nullptr)
    problem_.tangential_adhesion->add_gradient(solved.u.local(), -1, solved.friction_force.write_owned());
}

template <int dim>
std::string StepSolver<dim>::describe_failure(const newton::NewtonResult& result,
                                              const linalg::Vector& u) const {
  if (result.outcome == newton::NewtonOutcome::interrupted) return "interrupted";
  std::ostringstream text;
  text << "Newton's method stopped after " << result.iterations << " iterations ("
       << newton::name(result.outcome) << "), gradient norm " << result.gradient_norm << ", started from "
       << result.first_gradient_norm;
  if (result.outcome == newton::NewtonOutcome::unbounded)
    text << "; the potential falls without end along a motion that nothing holds: prescribe displacements of "
            "every body, or give the scene inertia (`time` without `quasistatic`)";
  text << describe_state(u);
  return text.str();
}

/// The worst cell and the closest pair, for the end of a message.
template <int dim>
std::string StepSolver<dim>::describe_state(const linalg::Vector& u) const {
  std::ostringstream text;
  for (const WorstCell& worst : worst_cells(*problem_.space, *problem_.geometry, u, 1))
    text << "; most compressed: " << describe(worst, problem_.space->mesh().body_names) << " (volume ratio "
         << worst.ratio << ")";
  if (problem_.contact) {
    problem_.contact->update(u.local());
    const potentials::ClosestPair<dim> closest = problem_.contact->closest_pair();
    if (!closest.description.empty()) text << "; closest pair: " << closest.description;
  }
  return text.str();
}

/// Gives the objective of the step; the predictions come back in u_bar and u_tilde.
template <int dim>
void StepSolver<dim>::begin_step(const stepping::History& past, const StepTarget& target,
                                 const stepping::StepCoefficients& coefficients, linalg::Vector& u_bar,
                                 linalg::Vector& u_tilde) {
  const bool inertia = options_.dynamics == Dynamics::dynamic;
  const linalg::Vector& previous = past.newest().u;
  u_bar = linalg::Vector(previous.shared_layout());
  u_tilde = u_bar;
  const double B = coefficients.scaled_dt(target.dt);
  const potentials::MassMatrix<dim>* mass = nullptr;
  if (inertia) {
    past.predict(coefficients, target.dt, u_bar, u_tilde);
    mass = problem_.mass.get();
  } else if (regularization_ && options_.regularization_passes > 0) {
    u_tilde = previous;
    mass = regularization_.get();
  }
  potentials::StepContext context;
  context.time = target.time;
  context.dt = target.dt;
  context.load_factor = target.load_factor;
  context.previous = previous.local();
  objective_.begin_step(context, mass, u_tilde, inertia ? B * B : 1);
}

template <int dim>
double StepSolver<dim>::barrier_energy_at_start(const stepping::History& past, const StepTarget& target,
                                                const stepping::StepCoefficients& coefficients) {
  linalg::Vector u_bar, u_tilde;
  begin_step(past, target, coefficients, u_bar, u_tilde);
  const linalg::Vector& u = past.newest().u;
  problem_.contact->update(u.local());
  const double unscaled = problem_.space->comm().sum(problem_.barrier->value(u.local()));
  double adhesion = 0;
  if (problem_.adhesion != nullptr) {
    problem_.adhesion->update(u.local());
    adhesion = problem_.space->comm().sum(problem_.adhesion->value(u.local()));
  }
  // Starts that touch are refused elsewhere.
  if (!std::isfinite(unscaled)) return 0;
  if (unscaled == 0) return adhesion;
  balance_stiffness(u);
  return objective_.stiffness() / objective_.scale() * unscaled + adhesion;
}

/// Takes the free nodes along as the known states have moved in this step, where nothing is in the way and
/// the objective falls.
template <int dim>
void StepSolver<dim>::move_near_known(const stepping::History& past, const StepTarget& target,
                                      linalg::Vector& u) {
  const std::optional<std::span<const double>> after = known_(target.time),
                                               before =
                                                   target.dt > 0 ? known_(target.time - target.dt) : after;
  if (!after || !before || target.load_factor < 1 || problem_.periodic) return;
  const auto newest = past.newest().u.owned(), now = u.owned();
  linalg::Vector motion(u.shared_layout());
  const auto entries = motion.write_owned();
  // Without time the known state itself is the prediction.
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i] = (*after)[i] - now[i] + (target.dt > 0 ? newest[i] - (*before)[i] : 0);
  problem_.dirichlet->clear(entries);
  motion.update_ghosts();
  const double at_start = objective_.value(u);
  if (objective_.max_step(u, motion) < 1) return;
  linalg::Vector moved = u;
  moved.add(1, motion);
  if (objective_.value(moved) < at_start) u.copy_from(moved);
}

/// Bodies that loads can turn are first solved for as if they could not, then turned to where the loads
/// balance, and so on. Newton's method would leave an equilibrium that is unstable, as that of every
/// compressed body is that nothing holds, for one far away. It is what finds those far away, where this gives
/// up.
template <int dim>
void StepSolver<dim>::turn_into_balance(SolvedStep& solved) {
  const linalg::Vector start = solved.u;
  double last = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < most_turns; ++turn) {
    kept_out_.emplace(loose_->not_held(solved.u));
    objective_.leave_out(&*kept_out_);
    if (!minimize(newton_, solved)) break;
    const double share = loose_->turn_into_balance(objective_, solved.u);
    // To rounding.
    if (share == 0 || (share <= LooseMotions<dim>::balanced_share && share > last / 2)) return;
    if (std::isinf(share)) break;
    last = share;
  }
  objective_.leave_out(&loose_->certain());
  solved.u.copy_from(start);
}

/// Pieces that touch nothing go to where the displacement is smallest, if nothing is in the way.
template <int dim>
void StepSolver<dim>::settle_floating(linalg::Vector& u) {
  linalg::Vector settled = u;
  floating_->check(objective_, u);
  floating_->minimize_norm(objective_, settled);
  linalg::Vector motion = settled;
  motion.add(-1, u);
  if (motion.norm_infinity() == 0 || objective_.max_step(u, motion) < 1) return;
  u.copy_from(settled);
}

template <int dim>
SolvedStep StepSolver<dim>::solve(const stepping::History& past, const StepTarget& target,
                                  const stepping::StepCoefficients& coefficients) {
  const bool inertia = options_.dynamics == Dynamics::dynamic;
  const linalg::Vector& previous = past.newest().u;
  const double B = coefficients.scaled_dt(target.dt);
  SolvedStep solved;
  linalg::Vector u_bar, u_tilde;
  begin_step(past, target, coefficients, u_bar, u_tilde);
  if (inertia) objective_.hold_hierarchy();
  if (loose_) objective_.leave_out(&loose_->certain());

  solved.u = previous;
  if (problem_.contact) start_contact(past, target);
  if (loose_) solved.failure = loose_->check(objective_, solved.u);
  solved.is_hopeless = !solved.failure.empty();
  if (solved.is_hopeless) return solved;
  solved.failure = follow_prescribed(target, solved);
  if (!solved.failure.empty()) return solved;
  if (known_) move_near_known(past, target, solved.u);
  if (loose_ && loose_->may_turn()) turn_into_balance(solved);
  if (!minimize_with_friction(target, u_tilde, solved)) {
    solved.failure = describe_failure(solved.newton, solved.u);
    return solved;
  }
  if (loose_) loose_->minimize_norm(objective_, solved.u);
  if (floating_) settle_floating(solved.u);
  solved.v = linalg::Vector(previous.shared_layout());
  solved.acceleration = solved.v;
  if (inertia) {
    past.update_velocity(coefficients, target.dt, solved.u, u_bar, solved.v);
    // v_bar = (u~ - u_bar) / B, and the acceleration belongs to v as v belongs to u.
    solved.acceleration.copy_from(u_bar);
    solved.acceleration.add(-1, u_tilde);
    solved.acceleration.scale(1 / B);
    solved.acceleration.add(1, solved.v);
    solved.acceleration.scale(1 / B);
  }
  if (problem_.contact) {
    record_forces(solved);
    totals_.largest_barrier_stiffness =
        std::max(totals_.largest_barrier_stiffness, objective_.stiffness() / objective_.scale());
  }
  solved.done = true;
  return solved;
}

template class StepSolver<2>;
template class StepSolver<3>;

} // namespace recoil::solvers
