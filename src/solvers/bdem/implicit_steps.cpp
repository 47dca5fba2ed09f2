#include "solvers/bdem/implicit_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/log.hpp"
#include "recoil/linalg/nonsymmetric_solve.hpp"
#include "recoil/solvers/bdem/softening.hpp"
#include "solvers/bdem/breaking.hpp"
#include "solvers/bdem/loose_pieces.hpp"
#include "solvers/bdem/stress_ratio.hpp"

namespace recoil::solvers {

using linalg::Vector;

namespace {

/// Solves of a step in which something prescribed moves on against contact.
constexpr int max_motion_passes = 50;
/// Relative tolerance of linear solves by which directions are judged: one that is shorter than the tolerance
/// of the step ends Newton's method, and the step along it leaves about this share of its length.
constexpr double direction_accuracy = 1e-2;
/// Solves of a step in which friction is lagged until it does not change.
constexpr int max_friction_passes = 100;
/// By which solves that only have to tell what breaks first may be less accurate.
constexpr double tolerance_factor = 30;
constexpr const char* blocked =
    "with prescribed particles or obstacles still on their way into others; move them less in a step "
    "(<dirichlet_boundary>, <obstacle_displacements>, <dt>)";

} // namespace

ImplicitSteps::ImplicitSteps(BondedParticles& problem, const BondedParticlesOptions& options,
                             ParticleIncrementalPotential& objective)
    : problem_(problem), options_(options), objective_(objective),
      manifold_(std::make_shared<ParticleManifold>(problem.particles->tangents, problem.particles->radii)),
      smallest_radius_(problem.particles->points->comm->min(
          problem.particles->radii.empty() ? std::numeric_limits<double>::max()
                                           : *std::ranges::min_element(problem.particles->radii))) {}

/// The way from x to `goal` of the components that are prescribed, or of the others.
Vector ImplicitSteps::way_of(bool prescribed, const Vector& x, const Vector& goal) const {
  Vector way(problem_.particles->tangents);
  manifold_->difference(x, goal, way);
  const auto values = way.write_local();
  for (std::size_t i = 0; i < values.size(); ++i)
    if ((problem_.prescribed[i] != 0) != prescribed) values[i] = 0;
  return way;
}

/// Adds this share of the ways of the cell to those of the components that follow forces.
void ImplicitSteps::carry_free(double share, Vector& way) const {
  const auto values = way.write_local();
  for (LocalIndex k = 0; k < way.layout().num_local(); ++k) {
    const Eigen::Vector3d carried = share * problem_.carried(k);
    for (int i = 0; i < 3; ++i)
      if (problem_.prescribed[6 * std::size_t(k) + i] == 0) shift_of(values, k)[i] += carried[i];
  }
}

/// Moves prescribed particles to where they are in `goal`, and obstacles to the end of their motion, a
/// cell and all in it, too, or as far as those in contact let them; true if all the way.
bool ImplicitSteps::advance_prescribed(const Vector& goal, Vector& x) {
  potentials::SphereContact& pairs = *problem_.contact;
  Vector way = way_of(true, x, goal);
  if (problem_.cell_motion) carry_free(1 - pairs.obstacle_share(), way);
  const double share = problem_.barrier->max_share(x.local(), way.owned(), 1);
  manifold_->move(x, share, way);
  pairs.move_obstacles(share < 1 ? pairs.obstacle_share() + share * (1 - pairs.obstacle_share()) : 1);
  if (problem_.cell_motion) problem_.cell_motion->go(pairs.obstacle_share());
  return share == 1;
}

/// Moves the others towards where they are in `goal`, as far as contact lets them.
void ImplicitSteps::advance_free(const Vector& goal, Vector& x) {
  const Vector way = way_of(false, x, goal);
  manifold_->move(x, problem_.barrier->max_share(x.local(), way.owned(), problem_.contact->obstacle_share()),
                  way);
}

/// Solves a step whose inertia leads to `start`. What is prescribed may have to wait until others have given
/// way: each solve lets it go on.
bool ImplicitSteps::solve_with_motion(const Vector& start, std::span<const double> momentum, double time,
                                      ParticleStep& step) {
  Vector goal(objective_.has_inertia() ? start : step.u);
  if (!objective_.has_inertia()) problem_.carry(goal.write_local());
  if (problem_.move_prescribed) problem_.move_prescribed(time, goal.write_local());
  if (!problem_.contact) {
    step.u.copy_from(goal);
    return nearly_solve(momentum, step.u, step);
  }
  if (problem_.cell_motion) problem_.cell_motion->go(0);
  const auto still_blocked = [&] {
    return particle_of_largest(way_of(true, step.u, goal), step.u, "the farthest from its goal is") + ", " +
           blocked;
  };
  for (int pass = 0; pass < max_motion_passes; ++pass) {
    const bool arrived = advance_prescribed(goal, step.u);
    if (pass == 0) advance_free(goal, step.u);
    const bool solved = nearly_solve(momentum, step.u, step);
    if (solved && arrived) return true;
    if (solved) continue;
    if (!arrived) step.failure += still_blocked();
    return false;
  }
  step.failure = fmt::format("after {} solves{}", max_motion_passes, still_blocked());
  return false;
}

/// Solves again with the frames and normal forces of friction at the end of the last solve, as often as
/// options say.
bool ImplicitSteps::relag_friction(const stepping::State& from, std::span<const double> momentum, double dt,
                                   ParticleStep& step) {
  if (!problem_.friction || !problem_.friction->acts()) return true;
  const bool until_converged = options_.friction_iterations < 0;
  const int passes = until_converged ? max_friction_passes : options_.friction_iterations;
  Vector last(step.u), way(step.v);
  for (int pass = 1; pass < passes; ++pass) {
    last.copy_from(step.u);
    problem_.update(step.u.local());
    problem_.friction->lag(step.u.local(), from.u.local(), dt);
    if (!solve(momentum, step.u, step)) return false;
    manifold_->difference(last, step.u, way);
    if (way.norm_infinity() <= options_.tolerance * smallest_radius_) return true;
  }
  if (until_converged)
    log_warning(fmt::format("friction has not converged after {} solves of a step{}; take shorter steps "
                            "(<dt>)",
                            passes, particle_of_largest(way, step.u, "the last one moved most")));
  return true;
}

/// 2 q_n - q_n-1 in place of the geodesic from q_n-1 through q_n [Lu, Cao, Li, Hu]: it ends outside of the
/// sphere, and nearer.
void ImplicitSteps::take_predictor_of_paper(const Vector& from, const Vector& momentum,
                                            Vector& target) const {
  const auto values = target.write_local();
  for (LocalIndex k = 0; k < target.layout().num_local(); ++k) {
    const geometry::Quaternion q = particle_at(from.local(), k).q,
                               last = geometry::product(
                                   q, geometry::quaternion_exponential(-turn_of(momentum.local(), k) /
                                                                       problem_.particles->radii[k]));
    set_particle(values, k, {particle_at(values, k).p, 2 * q - last});
  }
}

/// Whether every solve of a step goes to the minimum: where nothing may break, it is the only one.
bool ImplicitSteps::solve_at_once() const {
  return options_.cascade_iterations == 0 || !problem_.strength || problem_.softens() ||
         options_.integrator == ParticleIntegrator::del_exact;
}

newton::NewtonOptions ImplicitSteps::newton_options(int max_iterations, double tolerance) const {
  newton::NewtonOptions newton;
  newton.max_iterations = max_iterations;
  newton.gradient_tolerance = newton.first_gradient_tolerance = 0;
  newton.relative_gradient_tolerance = 1e-15;
  newton.step_rule = newton::StepRule{tolerance, 1, smallest_radius_, direction_accuracy};
  newton.length_scale = smallest_radius_;
  newton.interrupted = interrupted_;
  return newton;
}

/// Minimises the incremental potential from x; false without a minimum, unless the iterations that it was
/// allowed have led to a relaxed state.
bool ImplicitSteps::minimize(const newton::NewtonOptions& newton, Vector& x, ParticleStep& step) {
  if (fly_on(x)) {
    accuracy_ = Accuracy::converged;
    return true;
  }
  const newton::NewtonResult result = newton::minimize(objective_, *manifold_, x, newton);
  iterations_ += result.iterations;
  step.interrupted = result.outcome == newton::NewtonOutcome::interrupted;
  if (result.ran_out() && newton.max_iterations < options_.max_iterations) {
    accuracy_ = Accuracy::relaxed;
    return true;
  }
  if (!result.converged()) {
    step.failure = fmt::format("Newton's method ended with {} after {} iterations{}", name(result.outcome),
                               result.iterations, step.interrupted ? "" : worst_particle(x));
    return false;
  }
  const bool reaches = result.outcome != newton::NewtonOutcome::converged_step ||
                       result.distance <= options_.tolerance * smallest_radius_;
  accuracy_ = reaches ? Accuracy::converged : Accuracy::nearly_converged;
  return true;
}

/// Moves x by the loads alone, if what else acts on the particles would move none of them further than a
/// direction of Newton's method leaves undone: bodies in free flight need no matrix.
bool ImplicitSteps::fly_on(Vector& x) {
  if (!objective_.has_inertia()) return false;
  const double most = direction_accuracy * options_.tolerance * smallest_radius_;
  Vector g(problem_.particles->tangents), fall(g);
  const std::span<const double> mass = objective_.mass(), loads = objective_.loads();
  // The loads count as if they had moved x already.
  const auto is_left_alone = [&] {
    double largest = 0;
    for (std::size_t i = 0; i < g.owned().size(); ++i)
      largest = std::max(largest, std::abs(g.owned()[i] / mass[i] + fall.owned()[i]));
    return g.layout().comm->max(largest) <= most;
  };
  objective_.gradient(x, g);
  const auto ways = fall.write_owned();
  for (std::size_t i = 0; i < ways.size(); ++i)
    ways[i] = problem_.prescribed[i] != 0 ? 0 : objective_.scale() * objective_.share() * loads[i] / mass[i];
  if (!is_left_alone()) return false;
  fall.update_ghosts();
  if (fall.norm_infinity() == 0) return true;
  if (objective_.max_step(x, fall) < 1) return false;
  Vector end(x);
  manifold_->move(end, 1, fall);
  objective_.gradient(end, g);
  fall.fill(0);
  if (!is_left_alone()) return false;
  x.copy_from(end);
  return true;
}

/// To the minimum.
bool ImplicitSteps::solve(std::span<const double> momentum, Vector& x, ParticleStep& step) {
  if (options_.integrator != ParticleIntegrator::del_exact)
    return minimize(newton_options(options_.max_iterations, options_.tolerance), x, step);
  accuracy_ = Accuracy::converged;
  return solve_balance(momentum, x, step);
}

/// Solves as near to the minimum as tells what breaks first.
bool ImplicitSteps::nearly_solve(std::span<const double> momentum, Vector& x, ParticleStep& step) {
  if (solve_at_once()) return solve(momentum, x, step);
  return minimize(newton_options(options_.max_iterations, tolerance_factor * options_.tolerance), x, step);
}

/// Lets intact bonds take over what those bore that have just broken, as far as some iterations lead.
bool ImplicitSteps::relax(std::span<const double> momentum, ParticleStep& step) {
  if (solve_at_once()) return solve(momentum, step.u, step);
  return minimize(
      newton_options(std::min(options_.cascade_iterations, options_.max_iterations), options_.tolerance),
      step.u, step);
}

/// The next solve of a state in which nothing breaks.
bool ImplicitSteps::improve(const stepping::State& from, std::span<const double> momentum, double dt,
                            ParticleStep& step) {
  const bool solved =
      accuracy_ == Accuracy::relaxed ? nearly_solve(momentum, step.u, step) : solve(momentum, step.u, step);
  return solved && (accuracy_ != Accuracy::converged || relag_friction(from, momentum, dt, step));
}

/// ", the largest residual at particle ..", for messages; empty where there is none. Collective.
std::string ImplicitSteps::worst_particle(const Vector& x) {
  Vector g(problem_.particles->tangents);
  objective_.gradient(x, g);
  return particle_of_largest(g, x, "the largest residual at");
}

/// ", `what` particle ..": the one of which `vector` is largest; empty where it is zero. Collective.
std::string ImplicitSteps::particle_of_largest(const Vector& vector, const Vector& x,
                                               std::string_view what) const {
  const std::span<const double> values = vector.owned();
  double largest = 0;
  LocalIndex at = -1;
  for (LocalIndex k = 0; k < problem_.particles->num_owned(); ++k)
    if (const double size = shift_of(values, k).norm() + turn_of(values, k).norm(); size > largest) {
      largest = size;
      at = k;
    }
  const parallel::Communicator& comm = *problem_.particles->points->comm;
  const double of_all = comm.max(largest);
  const bool is_mine = at >= 0 && largest == of_all;
  const std::vector<std::string> texts =
      comm.all_gather(is_mine ? describe_particle(problem_, x.local(), at) : "");
  const auto found = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
  return found == texts.end() ? "" : fmt::format(", {} {}", what, *found);
}

/// ", the last one at (x, y, z)": a bond that this step has broken. Collective.
std::string ImplicitSteps::last_break(const ParticleStep& step) const {
  std::string text;
  if (!step.broken.empty()) {
    const BrokenBond& last = step.broken.back();
    text = fmt::format(", the last one of them bond {} at ({:.6g}, {:.6g}, {:.6g})", last.bond,
                       last.place.x(), last.place.y(), last.place.z());
  }
  const std::vector<std::string> texts = problem_.particles->points->comm->all_gather(text);
  const auto found = std::ranges::find_if(texts, [](const std::string& one) { return !one.empty(); });
  return found == texts.end() ? "" : *found;
}

/// Newton's method for the discrete Euler-Lagrange equations, whose matrix is not quite symmetric: that of
/// the incremental potential preconditions it.
bool ImplicitSteps::solve_balance(std::span<const double> momentum, Vector& x, ParticleStep& step) {
  Vector r(problem_.particles->tangents), d(r), trial(x);
  objective_.balance(x, momentum, r);
  double size = objective_.gradient_norm(r);
  const auto most = options_.tolerance * smallest_radius_;
  for (int iteration = 0; iteration < options_.max_iterations; ++iteration) {
    if (interrupted_ && interrupted_()) {
      step.interrupted = true;
      return false;
    }
    objective_.assemble_hessian(x, newton::Projection::per_element);
    const linalg::NonsymmetricSystem system{
        [&](const Vector& in, Vector& out) { objective_.multiply_balance(x, in, out); },
        [&](const Vector& in, Vector& out) { objective_.solve(in, out, 1e-2); }};
    const linalg::LinearResult solved = solve_nonsymmetric(system, r, d, 1e-8, 200);
    if (solved.outcome != linalg::LinearOutcome::converged) break;
    d.scale(-1);
    ++iterations_;
    double share = objective_.max_step(x, d), next = 0;
    for (;; share /= 2) {
      trial.copy_from(x);
      manifold_->move(trial, share, d);
      objective_.balance(trial, momentum, r);
      next = objective_.gradient_norm(r);
      if (next < size || share < 1e-6) break;
    }
    const double way = share * d.norm_infinity();
    log_debug(
        fmt::format("newton {}", iteration + 1),
        {{"residual", next}, {"move", d.norm_infinity()}, {"step", share}, {"gmres", solved.iterations}});
    // At round-off the residual does not fall any more.
    if (next < size) {
      x.copy_from(trial);
      size = next;
    } else if (way <= most) {
      return true;
    } else {
      break;
    }
    if (way <= most) return true;
  }
  step.failure = "Newton's method for the discrete Euler-Lagrange equations does not converge" +
                 particle_of_largest(r, x, "the largest residual at");
  return false;
}

/// v of the state x that follows `from`.
void ImplicitSteps::velocity(const Vector& from, const Vector& x, double dt, Vector& v) {
  v.fill(0);
  if (!objective_.has_inertia()) return;
  manifold_->difference(from, x, v);
  if (problem_.cell_motion)
    for (LocalIndex k = 0; k < x.layout().num_local(); ++k)
      shift_of(v.write_local(), k) -= problem_.carried(k);
  v.scale(1 / dt);
  if (objective_.share() == 1) return;
  const auto values = v.write_owned();
  if (options_.integrator == ParticleIntegrator::del_exact)
    for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
      const auto now = particle_at(x.local(), k), before = particle_at(from.local(), k);
      const double s = now.q.dot(before.q) < 0 ? -1 : 1;
      turn_of(values, k) =
          -2 * problem_.particles->radii[k] / dt * s * (geometry::left_tangent(now.q) * before.q);
    }
  std::vector<double> force(values.size(), 0.0);
  problem_.update(x.local());
  objective_.add_forces(x, dt, force);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (problem_.prescribed[i] == 0) values[i] -= force[i] / objective_.mass()[i];
  v.update_ghosts();
}

double ImplicitSteps::contact_energy(const Vector& u) const {
  if (!problem_.contact) return 0;
  problem_.update(u.local());
  return problem_.barrier->value(u.local());
}

/// What the predictor of the paper takes from spins, beyond backward Euler: the work of the force of inertia
/// less that of M (v - v_n) / dt.
double ImplicitSteps::loss_by_predictor(const stepping::State& from, const Vector& way, double dt,
                                        const ParticleStep& step) const {
  std::vector<double> inertia(way.owned().size(), 0.0);
  objective_.add_inertia(step.u, inertia);
  double loss = 0;
  for (std::size_t i = 0; i < inertia.size(); ++i) {
    const double dv = step.v.owned()[i] - from.v.owned()[i];
    if (problem_.prescribed[i] == 0)
      loss += (inertia[i] / (dt * dt) - objective_.mass()[i] * dv / dt) * way.owned()[i];
  }
  return loss;
}

/// The ledger at the end of a step, each entry from its own forces. Of backward Euler the integrator loses
/// 1/2 dv' M dv and what the chord of V lies above its tangent; at the middle the latter alone is left.
void ImplicitSteps::close(const stepping::State& from, const ParticleLedger& before, double dt,
                          ParticleStep& step) const {
  Vector way(step.v);
  manifold_->difference(from.u, step.u, way);
  std::vector<double> force(way.owned().size(), 0.0);
  problem_.update(step.u.local());
  double work = 0;
  for (const auto& term : problem_.terms) {
    term->add_gradient(step.u.local(), objective_.share_of(*term) / objective_.share(), force);
    work += term->obstacle_work();
  }
  work += problem_.bonds->image_work(step.u.local());
  if (problem_.bond_damping) work += problem_.bond_damping->image_work(step.u.local());
  const double friction_loss = problem_.friction ? problem_.friction->dissipation() : 0;
  const double damping_loss = problem_.damping ? problem_.damping->dissipation() : 0;
  const double bond_loss = problem_.bond_damping ? problem_.bond_damping->dissipation(step.u.local()) : 0;
  double lost = work - friction_loss - damping_loss - bond_loss;
  step.reactions = reactions(objective_, problem_, from, dt, force, step);
  for (std::size_t i = 0; i < force.size(); ++i) {
    const double dx = way.owned()[i], dv = step.v.owned()[i] - from.v.owned()[i], m = objective_.mass()[i];
    work += (objective_.loads()[i] + step.reactions[i]) * dx;
    if (problem_.cell_motion && i % 6 < 3)
      work +=
          (force[i] - objective_.loads()[i] - step.reactions[i]) * problem_.carried(LocalIndex(i / 6))[i % 6];
    lost += force[i] * dx;
    if (objective_.has_inertia() && objective_.share() == 1) lost += m * dv * dv / 2;
  }
  if (options_.integrator == ParticleIntegrator::paper_literal)
    lost += loss_by_predictor(from, way, dt, step);
  const double elastic_before = problem_.bonds->stored_energy_at_start();
  lost -= problem_.bonds->stored_energy(step.u.local()) - elastic_before;
  double broken = 0;
  for (const BrokenBond& bond : step.broken) broken += bond.energy;
  std::array<double, 6> sums{work, lost, broken, friction_loss, damping_loss, bond_loss};
  way.layout().comm->sum(sums);
  ParticleLedger& after = step.ledger;
  const double of_springs = problem_.has_springs() ? problem_.friction->stored_energy() : 0;
  after = measure(problem_, step.u, step.v, contact_energy(step.u) + of_springs);
  if (problem_.has_springs()) step.springs = potentials::packed(problem_.friction->springs_at_end());
  const double released = before.elastic - way.layout().comm->sum(elastic_before);
  after.external_work = before.external_work + sums[0];
  after.broken = before.broken + sums[2];
  after.dissipated_friction = before.dissipated_friction + sums[3];
  after.dissipated_damping = before.dissipated_damping + sums[4];
  after.dissipated_bonds = before.dissipated_bonds + sums[5];
  after.dissipated_integrator =
      before.dissipated_integrator + sums[1] + released - sums[2] - (after.barrier - before.barrier);
}

/// Lets bonds soften by what they bear at the end of a step, which costs their energy there.
void ImplicitSteps::soften(const stepping::State& from, double time, ParticleStep& step) {
  const auto u = step.u.local();
  const parallel::Communicator& comm = *step.u.layout().comm;
  step.internal = grown_damage(problem_, damage_of(problem_, from.internal), u);
  for (std::size_t k = 0; k < step.internal.size(); ++k) {
    if (from.internal[k] >= 1 || step.internal[k] < 1) continue;
    const LocalIndex bond = LocalIndex(k);
    const bool by_tension = stress_ratio(problem_, bond, problem_.bonds->forces_of(bond, u)).by_tension;
    if (problem_.particles->owns(problem_.particles->bonds[k]))
      step.broken.push_back(record_of_break(problem_, bond, by_tension, u, time));
    if (problem_.contact) problem_.contact->separate(bond, u);
  }
  if (problem_.contact) {
    const std::vector<double>& distances = problem_.contact->bond_distances();
    step.internal.insert(step.internal.end(), distances.begin(), distances.end());
  }
  set_internal(problem_, step.internal);
  const double elastic = comm.sum(problem_.bonds->stored_energy(u));
  step.ledger.broken += step.ledger.elastic - elastic;
  step.ledger.elastic = elastic;
}

/// Puts what nothing holds in front of what that led to. Collective.
void ImplicitSteps::name_loose_piece(ParticleStep& step) const {
  problem_.update(step.u.local());
  const std::string loose = describe_loose_piece(problem_, step.u.local());
  if (loose.empty()) return;
  step.failure = loose +
                 "; hold it by <dirichlet_boundary>, take bonds that soften (<damage_width>) "
                 "and keep a trace of their stiffness, or a dynamic scene without <quasistatic> (" +
                 step.failure + ")";
}

/// Breaks the bonds that are overstressed most at the iterate; returns how many on all ranks.
GlobalIndex ImplicitSteps::break_group(double time, ParticleStep& step) {
  const auto broken = break_overstressed(problem_, step.u.local(), options_.cascade_share, time);
  step.broken.insert(step.broken.end(), broken.begin(), broken.end());
  const GlobalIndex count = step.u.layout().comm->sum(GlobalIndex(broken.size()));
  if (count > 0) ++passes_;
  return count;
}

/// Breaks bonds group by group until none is overstressed at a minimum; false where that fails. Between two
/// groups nothing is solved better than their order needs.
bool ImplicitSteps::break_until_none(const stepping::State& from, std::span<const double> momentum,
                                     double time, double dt, double max_broken_share, ParticleStep& step) {
  const double most_broken = max_broken_share * double(problem_.particles->num_bonds_global);
  for (int pass = 0; pass < options_.max_cascade_passes;) {
    const GlobalIndex count = break_group(time, step);
    if (count == 0 && accuracy_ == Accuracy::converged) return true;
    if (count == 0) {
      if (!improve(from, momentum, dt, step)) return false;
      continue;
    }
    ++pass;
    if (double(count) > most_broken) {
      step.breaks_suddenly = true;
      step.failure = fmt::format("{} bonds break at once, more than <max_broken_share> of all{}", count,
                                 last_break(step));
      return false;
    }
    if (!relax(momentum, step)) return false;
    if (accuracy_ == Accuracy::converged && !relag_friction(from, momentum, dt, step)) return false;
  }
  step.failure = fmt::format("bonds still break after {} passes of a step{}; take shorter steps (<dt>), or "
                             "a lower <cascade_share>, so that more break in a pass",
                             options_.max_cascade_passes, last_break(step));
  return false;
}

ParticleStep ImplicitSteps::take(const stepping::State& from, const ParticleLedger& before, double time,
                                 double dt, double max_broken_share) {
  ParticleStep step;
  step.u = from.u;
  step.v = from.v;
  const std::vector<char> intact_before(problem_.bonds->broken().begin(), problem_.bonds->broken().end());
  set_internal(problem_, from.internal);
  Vector momentum(from.v), target(from.u);
  momentum.scale(dt);
  manifold_->move(target, 1, momentum);
  problem_.begin_cell(time, dt);
  problem_.carry(target.write_local());
  Vector start(target);
  if (options_.integrator == ParticleIntegrator::paper_literal)
    take_predictor_of_paper(from.u, momentum, target);
  objective_.begin_step(from.u, target, time, dt);
  objective_.hold_hierarchy();
  problem_.begin_contact(time, dt, from.u.local());
  if (!solve_with_motion(start, momentum.owned(), time, step) ||
      (accuracy_ == Accuracy::converged && !relag_friction(from, momentum.owned(), dt, step)) ||
      (!problem_.softens() && !break_until_none(from, momentum.owned(), time, dt, max_broken_share, step))) {
    if (!objective_.has_inertia() && !step.interrupted) name_loose_piece(step);
    if (!problem_.softens()) problem_.bonds->set_broken(intact_before);
    return step;
  }
  velocity(from.u, step.u, dt, step.v);
  close(from, before, dt, step);
  if (problem_.cell_motion) step.F = problem_.cell_motion->now();
  if (problem_.softens()) soften(from, time, step);
  step.done = true;
  return step;
}

} // namespace recoil::solvers
