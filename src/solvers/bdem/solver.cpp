#include "recoil/solvers/bdem/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/linalg/nonsymmetric_solve.hpp"
#include "recoil/parallel/exchange.hpp"
#include "solvers/bdem/breaking.hpp"
#include "solvers/bdem/explicit_steps.hpp"
#include "solvers/bdem/incremental_potential.hpp"
#include "solvers/bdem/particle_manifold.hpp"
#include "solvers/bdem/recorded_steps.hpp"

namespace recoil::solvers {

using Eigen::Vector3d;
using linalg::Vector;

namespace {

/// Solves of a step in which something prescribed moves on against contact.
constexpr int max_motion_passes = 50;
constexpr const char* blocked = "with prescribed particles or obstacles still on their way into others; move "
                                "them less in a step";

/// What one step or sub-step has come to.
struct SolvedStep {
  bool done = false, interrupted = false;
  std::string failure;
  Vector u, v;
  std::vector<BrokenBond> broken;
  std::vector<double> reactions; ///< BondedParticlesSolver::reactions()
  ParticleLedger ledger;
};

} // namespace

struct BondedParticlesSolver::Implementation {
  Implementation(BondedParticles given, BondedParticlesOptions chosen)
      : problem(std::move(given)), options(chosen), objective(problem, options),
        manifold(std::make_shared<ParticleManifold>(problem.particles->tangents, problem.particles->radii)),
        history(1, manifold),
        smallest_radius(problem.particles->points->comm->min(
            problem.particles->radii.empty() ? std::numeric_limits<double>::max()
                                             : *std::ranges::min_element(problem.particles->radii))) {
    if (options.integrator == ParticleIntegrator::leapfrog)
      explicit_steps.emplace(problem, options.explicit_share, options.rolling_friction);
  }

  /// Time at the end of a part of the next step [s]: that of the last one is, to the bit, what time() gives
  /// after the step, so that records and tables agree.
  double end_of_part(int part, int parts) const {
    return options.t0 + (double(step) + double(part + 1) / parts) * options.dt;
  }
  bool is_at_rest() const { return options.integrator == ParticleIntegrator::quasistatic; }
  SolvedStep take(const stepping::State& from, const ParticleLedger& before, double time, double dt);
  SolvedStep take_explicit(const stepping::State& from, const ParticleLedger& before, double time, double dt);
  Vector way_of(bool prescribed, const Vector& x, const Vector& goal) const;
  bool advance_prescribed(const Vector& goal, Vector& x);
  void advance_free(const Vector& goal, Vector& x);
  bool solve(std::span<const double> momentum, Vector& x, SolvedStep& step);
  bool solve_with_motion(const Vector& target, std::span<const double> momentum, double time,
                         SolvedStep& step);
  bool solve_balance(std::span<const double> momentum, Vector& x, SolvedStep& step);
  void velocity(const Vector& from, const Vector& x, double dt, Vector& v);
  double contact_energy(const Vector& u) const;
  ParticleLedger measure(const Vector& u, const Vector& v) const;
  void close(const stepping::State& from, const ParticleLedger& before, double dt, SolvedStep& step) const;
  std::vector<double> reactions(const stepping::State& from, double dt, std::span<const double> gradient,
                                const SolvedStep& step) const;

  BondedParticles problem;
  BondedParticlesOptions options;
  ParticleIncrementalPotential objective;
  std::optional<ExplicitSteps> explicit_steps; ///< of leapfrog
  std::shared_ptr<const ParticleManifold> manifold;
  stepping::History history;
  double smallest_radius;
  std::function<bool()> interrupted;
  GlobalIndex step = 0, num_broken = 0;
  GlobalIndex newton_total = 0, retries = 0, newton_of_step = 0;
  ParticleLedger ledger;
  std::vector<BrokenBond> broken_in_step;
  std::vector<double> reactions_of_step;
};

/// The way from x to `goal` of the components that are prescribed, or of the others.
Vector BondedParticlesSolver::Implementation::way_of(bool prescribed, const Vector& x,
                                                     const Vector& goal) const {
  Vector way(problem.particles->tangents);
  manifold->difference(x, goal, way);
  const auto values = way.write_local();
  for (std::size_t i = 0; i < values.size(); ++i)
    if ((problem.prescribed[i] != 0) != prescribed) values[i] = 0;
  return way;
}

/// Moves prescribed particles to where they are in `goal`, and obstacles to the end of their motion, or as
/// far as those in contact let them; true if all the way.
bool BondedParticlesSolver::Implementation::advance_prescribed(const Vector& goal, Vector& x) {
  potentials::SphereContact& pairs = problem.contact->pairs;
  const Vector way = way_of(true, x, goal);
  const double share = pairs.max_step(x.local(), way.owned(), 1);
  manifold->move(x, share, way);
  pairs.move_obstacles(share < 1 ? pairs.obstacle_share() + share * (1 - pairs.obstacle_share()) : 1);
  return share == 1;
}

/// Moves the others towards where they are in `goal`, as far as contact lets them.
void BondedParticlesSolver::Implementation::advance_free(const Vector& goal, Vector& x) {
  potentials::SphereContact& pairs = problem.contact->pairs;
  const Vector way = way_of(false, x, goal);
  manifold->move(x, pairs.max_step(x.local(), way.owned(), pairs.obstacle_share()), way);
}

/// Solves a step whose inertia leads to `target`. What is prescribed may have to wait until others have given
/// way: each solve lets it go on.
bool BondedParticlesSolver::Implementation::solve_with_motion(const Vector& target,
                                                              std::span<const double> momentum, double time,
                                                              SolvedStep& step) {
  Vector goal(is_at_rest() ? step.u : target);
  if (problem.move_prescribed) problem.move_prescribed(time, goal.write_local());
  if (!problem.contact) {
    step.u.copy_from(goal);
    return solve(momentum, step.u, step);
  }
  for (int pass = 0; pass < max_motion_passes; ++pass) {
    const bool arrived = advance_prescribed(goal, step.u);
    if (pass == 0) advance_free(goal, step.u);
    const bool solved = solve(momentum, step.u, step);
    if (solved && arrived) return true;
    if (solved) continue;
    if (!arrived) step.failure += std::string(", ") + blocked;
    return false;
  }
  step.failure = fmt::format("after {} solves {}", max_motion_passes, blocked);
  return false;
}

/// Minimises the incremental potential from x; false without a minimum.
bool BondedParticlesSolver::Implementation::solve(std::span<const double> momentum, Vector& x,
                                                  SolvedStep& step) {
  if (options.integrator == ParticleIntegrator::del_exact) return solve_balance(momentum, x, step);
  newton::NewtonOptions newton;
  newton.max_iterations = options.max_iterations;
  newton.gradient_tolerance = newton.relative_gradient_tolerance = 1e-15;
  newton.first_gradient_tolerance = 0;
  newton.step_rule = newton::StepRule{options.tolerance, 1, smallest_radius};
  newton.length_scale = smallest_radius;
  newton.interrupted = interrupted;
  const newton::NewtonResult result = newton::minimize(objective, *manifold, x, newton);
  newton_of_step += result.iterations;
  newton_total += result.iterations;
  step.interrupted = result.outcome == newton::NewtonOutcome::interrupted;
  if (!result.converged())
    step.failure = fmt::format("Newton's method ended with {} after {} iterations", name(result.outcome),
                               result.iterations);
  return result.converged();
}

/// Newton's method for the discrete Euler-Lagrange equations, whose matrix is not quite symmetric: that of
/// the incremental potential preconditions it.
bool BondedParticlesSolver::Implementation::solve_balance(std::span<const double> momentum, Vector& x,
                                                          SolvedStep& step) {
  Vector r(problem.particles->tangents), d(r), trial(x);
  objective.balance(x, momentum, r);
  double size = objective.gradient_norm(r);
  const auto most = options.tolerance * smallest_radius;
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    if (interrupted && interrupted()) {
      step.interrupted = true;
      return false;
    }
    objective.assemble_hessian(x, newton::Projection::per_element);
    const linalg::NonsymmetricSystem system{
        [&](const Vector& in, Vector& out) { objective.multiply_balance(x, in, out); },
        [&](const Vector& in, Vector& out) { objective.solve(in, out, 1e-2); }};
    const linalg::LinearResult solved = solve_nonsymmetric(system, r, d, 1e-8, 200);
    if (solved.outcome != linalg::LinearOutcome::converged) break;
    d.scale(-1);
    ++newton_of_step;
    ++newton_total;
    double share = objective.max_step(x, d), next = 0;
    for (;; share /= 2) {
      trial.copy_from(x);
      manifold->move(trial, share, d);
      objective.balance(trial, momentum, r);
      next = objective.gradient_norm(r);
      if (next < size || share < 1e-6) break;
    }
    const double way = share * d.norm_infinity();
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
  step.failure = "Newton's method for the discrete Euler-Lagrange equations does not converge";
  return false;
}

/// v of the state x that follows `from`.
void BondedParticlesSolver::Implementation::velocity(const Vector& from, const Vector& x, double dt,
                                                     Vector& v) {
  v.fill(0);
  if (is_at_rest()) return;
  manifold->difference(from, x, v);
  v.scale(1 / dt);
  if (options.integrator == ParticleIntegrator::be_reflect) return;
  const auto values = v.write_owned();
  if (options.integrator == ParticleIntegrator::del_exact)
    for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
      const auto now = particle_at(x.local(), k), before = particle_at(from.local(), k);
      const double s = now.q.dot(before.q) < 0 ? -1 : 1;
      turn_of(values, k) =
          -2 * problem.particles->radii[k] / dt * s * (geometry::left_tangent(now.q) * before.q);
    }
  std::vector<double> force(values.size(), 0.0);
  if (problem.contact) problem.contact->update(x.local());
  objective.add_forces(x, dt, force);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (problem.prescribed[i] == 0) values[i] -= force[i] / objective.mass()[i];
  v.update_ghosts();
}

/// This rank's share.
double BondedParticlesSolver::Implementation::contact_energy(const Vector& u) const {
  if (explicit_steps) {
    problem.contact->pairs.update(u.owned());
    return explicit_steps->contact()->energy();
  }
  problem.contact->update(u.local());
  return problem.contact->barrier.value(u.local());
}

ParticleLedger BondedParticlesSolver::Implementation::measure(const Vector& u, const Vector& v) const {
  std::array<double, 9> sums{};
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    const auto at = particle_at(u.local(), k);
    const Vector3d p = problem.mass[k] * shift_of(v.owned(), k),
                   spin = turn_of(v.owned(), k) / problem.particles->radii[k],
                   L = at.p.cross(p) + problem.inertia(k) * (geometry::rotation_matrix(at.q) * spin);
    sums[0] += p.squaredNorm() / (2 * problem.mass[k]) + problem.inertia(k) * spin.squaredNorm() / 2;
    for (int i = 0; i < 3; ++i) {
      sums[2 + i] += p[i];
      sums[5 + i] += L[i];
    }
  }
  sums[1] = problem.bonds->stored_energy(u.local());
  if (problem.contact) sums[8] = contact_energy(u);
  u.layout().comm->sum(sums);
  ParticleLedger ledger;
  ledger.kinetic = sums[0];
  ledger.elastic = sums[1];
  ledger.barrier = sums[8];
  std::copy_n(sums.begin() + 2, 3, ledger.linear_momentum.begin());
  std::copy_n(sums.begin() + 5, 3, ledger.angular_momentum.begin());
  return ledger;
}

/// From Newton's second law for prescribed components, with the elastic energy's gradient and the loads of
/// the objective; zero for others.
std::vector<double> BondedParticlesSolver::Implementation::reactions(const stepping::State& from, double dt,
                                                                     std::span<const double> gradient,
                                                                     const SolvedStep& step) const {
  std::vector<double> result(objective.loads().size(), 0.0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (problem.prescribed[i] == 0) continue;
    const double dv = step.v.owned()[i] - from.v.owned()[i];
    result[i] = gradient[i] + (is_at_rest() ? 0 : objective.mass()[i] * dv / dt) - objective.loads()[i];
  }
  return result;
}

/// The ledger at the end of a step, each entry from its own forces. Of backward Euler the integrator loses
/// 1/2 dv' M dv and what the chord of V lies above its tangent; at the middle the latter alone is left.
void BondedParticlesSolver::Implementation::close(const stepping::State& from, const ParticleLedger& before,
                                                  double dt, SolvedStep& step) const {
  Vector way(step.v);
  manifold->difference(from.u, step.u, way);
  std::vector<double> force(way.owned().size(), 0.0);
  problem.bonds->add_gradient(step.u.local(), 1 / objective.share(), force);
  double work = 0, lost = 0, friction_loss = 0;
  if (problem.contact) {
    problem.contact->update(step.u.local());
    problem.contact->add_gradient(step.u.local(), 1, force);
    friction_loss = problem.contact->friction.dissipation();
    work = problem.contact->barrier.obstacle_work() + problem.contact->friction.obstacle_work();
    lost = work - friction_loss;
  }
  step.reactions = reactions(from, dt, force, step);
  for (std::size_t i = 0; i < force.size(); ++i) {
    const double dx = way.owned()[i], dv = step.v.owned()[i] - from.v.owned()[i], m = objective.mass()[i];
    work += (objective.loads()[i] + step.reactions[i]) * dx;
    lost += force[i] * dx;
    if (options.integrator == ParticleIntegrator::be_reflect) lost += m * dv * dv / 2;
  }
  lost -= problem.bonds->stored_energy(step.u.local()) - problem.bonds->stored_energy(from.u.local());
  double broken = 0;
  for (const BrokenBond& bond : step.broken) broken += bond.energy;
  std::array<double, 4> sums{work, lost, broken, friction_loss};
  way.layout().comm->sum(sums);
  ParticleLedger& after = step.ledger;
  after = measure(step.u, step.v);
  const double released =
      before.elastic - way.layout().comm->sum(problem.bonds->stored_energy(from.u.local()));
  after.external_work = before.external_work + sums[0];
  after.broken = before.broken + sums[2];
  after.dissipated_friction = before.dissipated_friction + sums[3];
  after.dissipated_integrator =
      before.dissipated_integrator + sums[1] + released - sums[2] - (after.barrier - before.barrier);
}

/// One step of leapfrog, whatever its sub-steps.
SolvedStep BondedParticlesSolver::Implementation::take_explicit(const stepping::State& from,
                                                                const ParticleLedger& before, double time,
                                                                double dt) {
  SolvedStep step;
  step.u = from.u;
  step.v = from.v;
  ExplicitSteps::Outcome outcome = explicit_steps->advance(step.u, step.v, time, dt, interrupted);
  step.broken = std::move(outcome.broken);
  step.interrupted = outcome.interrupted;
  if (step.interrupted) return step;
  double broken = 0;
  for (const BrokenBond& bond : step.broken) broken += bond.energy;
  std::array<double, 4> sums{outcome.external_work, outcome.bond_work, broken, outcome.dissipated_friction};
  step.u.layout().comm->sum(sums);
  step.ledger = measure(step.u, step.v);
  step.ledger.external_work = before.external_work + sums[0];
  step.ledger.broken = before.broken + sums[2];
  step.ledger.dissipated_friction = before.dissipated_friction + sums[3];
  step.ledger.dissipated_integrator = before.dissipated_integrator + sums[1] -
                                      (step.ledger.elastic - before.elastic) -
                                      (step.ledger.barrier - before.barrier) - sums[2];
  step.done = std::isfinite(step.ledger.kinetic + step.ledger.elastic);
  std::vector<double> gradient(step.v.owned().size(), 0.0);
  problem.bonds->add_gradient(step.u.local(), 1, gradient);
  explicit_steps->add_contact_gradient(step.u, gradient);
  objective.begin_step(step.u, step.u, time, dt);
  step.reactions = reactions(from, dt, gradient, step);
  if (!step.done)
    step.failure = fmt::format("leapfrog is unstable with sub-steps of {:.3g} s; lower explicit_share",
                               dt / explicit_steps->num_sub_steps(dt));
  return step;
}

/// One step or sub-step; the bonds that it breaks stay broken only if it is done.
SolvedStep BondedParticlesSolver::Implementation::take(const stepping::State& from,
                                                       const ParticleLedger& before, double time, double dt) {
  if (explicit_steps) return take_explicit(from, before, time, dt);
  SolvedStep step;
  step.u = from.u;
  step.v = from.v;
  const std::vector<char> intact_before(problem.bonds->broken().begin(), problem.bonds->broken().end());
  Vector momentum(from.v), target(from.u);
  momentum.scale(dt);
  manifold->move(target, 1, momentum);
  objective.begin_step(from.u, target, time, dt);
  if (problem.contact) problem.contact->begin_step(time, dt, from.u.local());
  const auto fail = [&] {
    problem.bonds->set_broken(intact_before);
    return std::move(step);
  };
  for (int pass = 0;; ++pass) {
    if (!(pass == 0 ? solve_with_motion(target, momentum.owned(), time, step)
                    : solve(momentum.owned(), step.u, step)))
      return fail();
    const auto broken = break_overstressed(problem, step.u.local(), options.cascade_share, time);
    step.broken.insert(step.broken.end(), broken.begin(), broken.end());
    if (!from.u.layout().comm->any(!broken.empty())) break;
    if (pass == options.max_cascade_passes) {
      step.failure = fmt::format("bonds still break after {} passes of a step", pass);
      return fail();
    }
  }
  velocity(from.u, step.u, dt, step.v);
  close(from, before, dt, step);
  step.done = true;
  return step;
}

BondedParticlesSolver::BondedParticlesSolver(BondedParticles problem, BondedParticlesOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(problem), std::move(options))) {
  const auto& particles = *implementation_->problem.particles;
  Vector u(particles.points), v(particles.tangents);
  const auto values = u.write_local();
  for (LocalIndex k = 0; k < particles.points->num_local(); ++k)
    set_particle(values, k, {particles.positions[k], geometry::identity_quaternion()});
  start(u, v);
}

BondedParticlesSolver::~BondedParticlesSolver() = default;
BondedParticlesSolver::BondedParticlesSolver(BondedParticlesSolver&&) noexcept = default;

void BondedParticlesSolver::start(const Vector& u, const Vector& v) {
  Implementation& self = *implementation_;
  self.history.clear();
  self.history.push(0, u, v);
  if (self.problem.contact) self.problem.contact->begin_step(self.options.t0, 0, u.local());
  self.ledger = self.measure(u, v);
}

stepping::StepOutcome BondedParticlesSolver::advance(const OnState& on_state, int sub_steps) {
  Implementation& self = *implementation_;
  stepping::StepOutcome outcome;
  self.newton_of_step = 0;
  // Halved steps have the same sub-steps of leapfrog.
  const int max_retries = self.explicit_steps ? 0 : self.options.max_retries;
  const std::vector<char> broken_before(self.problem.bonds->broken().begin(),
                                        self.problem.bonds->broken().end());
  std::vector<SolvedStep> states;
  int parts = sub_steps;
  for (;; ++outcome.repetitions) {
    parts = sub_steps << outcome.repetitions;
    states.clear();
    self.problem.bonds->set_broken(broken_before);
    stepping::State from = self.history.newest();
    ParticleLedger ledger = self.ledger;
    for (int part = 0; part < parts; ++part) {
      const double dt = self.options.dt / parts;
      states.push_back(self.take(from, ledger, self.end_of_part(part, parts), dt));
      if (!states.back().done) break;
      from.u.copy_from(states.back().u);
      from.v.copy_from(states.back().v);
      ledger = states.back().ledger;
    }
    if (states.back().done) break;
    outcome.failure = states.back().failure;
    outcome.interrupted = states.back().interrupted;
    if (outcome.interrupted || parts >> max_retries != 0) {
      self.problem.bonds->set_broken(broken_before);
      return outcome;
    }
    ++self.retries;
  }
  outcome.accepted = true;
  outcome.failure.clear();
  self.broken_in_step.clear();
  GlobalIndex broken = 0;
  for (int part = 0; part < parts; ++part) {
    SolvedStep& state = states[part];
    stepping::StepRecord record = self.history.next_record(
        self.history.newest().id + 1, self.step + 1, self.end_of_part(part, parts), self.options.dt / parts,
        self.is_at_rest() ? stepping::StepCoefficients{} : stepping::bdf_coefficients(1));
    record.completes_nominal = part + 1 == parts;
    self.history.push(record.id, state.u, state.v);
    self.ledger = state.ledger;
    self.reactions_of_step = std::move(state.reactions);
    self.broken_in_step.insert(self.broken_in_step.end(), state.broken.begin(), state.broken.end());
    const GlobalIndex broken_now =
        self.problem.particles->points->comm->sum(GlobalIndex(state.broken.size()));
    broken += broken_now;
    self.num_broken += broken_now;
    if (record.completes_nominal) ++self.step;
    on_state(record, state.u, state.v);
  }
  outcome.description =
      self.explicit_steps
          ? fmt::format("sub-steps {}", parts * self.explicit_steps->num_sub_steps(self.options.dt / parts))
          : fmt::format("newton {}", self.newton_of_step);
  if (broken > 0) outcome.description += fmt::format("  broken {}", broken);
  return outcome;
}

GlobalIndex BondedParticlesSolver::step() const { return implementation_->step; }
double BondedParticlesSolver::time() const { return implementation_->end_of_part(-1, 1); }
double BondedParticlesSolver::start_time() const { return implementation_->options.t0; }
const stepping::History& BondedParticlesSolver::history() const { return implementation_->history; }
std::shared_ptr<const linalg::VectorLayout> BondedParticlesSolver::layout() const {
  return problem().particles->points;
}
std::shared_ptr<const linalg::VectorLayout> BondedParticlesSolver::tangent_layout() const {
  return problem().particles->tangents;
}
std::unique_ptr<stepping::DifferentiableStep>
BondedParticlesSolver::recorded_step(BondedSweepProducts& products) {
  return make_recorded_step(implementation_->problem, implementation_->options, products);
}
std::unique_ptr<stepping::TangentStep>
BondedParticlesSolver::tangent_step(BondedSweepDirections& directions) {
  return make_tangent_step(implementation_->problem, implementation_->options, directions);
}
const BondedParticles& BondedParticlesSolver::problem() const { return implementation_->problem; }
std::array<double, 2> BondedParticlesSolver::stresses(LocalIndex bond, const Vector& u) const {
  if (problem().bonds->is_broken(bond)) return {0, 0};
  return bond_stresses(problem(), bond, u.local());
}

/// Numbers of broken bonds travel to the ranks that hold the other end.
void BondedParticlesSolver::restore_broken(std::span<const double> flags,
                                           std::span<const double> least_distances) {
  struct Broken {
    GlobalIndex id;
    double least_distance;
  };
  BondedParticles& problem = implementation_->problem;
  const particles::DistributedParticles& particles = *problem.particles;
  const parallel::Communicator& comm = *particles.points->comm;
  const std::vector<GlobalIndex> offsets = comm.all_gather(particles.points->offset);
  std::vector<std::vector<Broken>> outgoing(comm.size());
  std::vector<char> broken(particles.bonds.size(), 0);
  std::vector<double> none;
  std::vector<double>& distances = problem.contact ? problem.contact->pairs.bond_distances() : none;
  std::size_t next = 0;
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond) {
    if (!particles.owns(particles.bonds[bond])) continue;
    const std::size_t counted = next++;
    if (flags[counted] == 0) continue;
    broken[bond] = 1;
    if (problem.contact) distances[bond] = least_distances[counted];
    const LocalIndex b = particles.bonds[bond].b;
    if (b < particles.num_owned()) continue;
    const auto owner = std::ranges::upper_bound(offsets, particles.points->global(b)) - offsets.begin() - 1;
    outgoing[owner].push_back({particles.bonds[bond].id, problem.contact ? least_distances[counted] : 0});
  }
  for (const auto& incoming : parallel::exchange(comm, outgoing))
    for (const auto& [id, least_distance] : incoming) {
      const auto bond =
          std::ranges::lower_bound(particles.bonds, id, {}, &particles::DistributedParticles::Bond::id) -
          particles.bonds.begin();
      broken[bond] = 1;
      if (problem.contact) distances[bond] = least_distance;
    }
  problem.bonds->set_broken(std::move(broken));
}

const ParticleLedger& BondedParticlesSolver::ledger() const { return implementation_->ledger; }

std::vector<double> BondedParticlesSolver::obstacle_forces() const {
  const ParticleContact& contact = *problem().contact;
  std::int32_t num_obstacles = 0;
  const std::int32_t first = std::int32_t(problem().particles->body_names.size());
  for (const std::int32_t body : contact.pairs.obstacles().bodies)
    num_obstacles = std::max(num_obstacles, body - first + 1);
  for (const auto& plane : contact.pairs.obstacles().planes)
    num_obstacles = std::max(num_obstacles, plane.body - first + 1);
  std::vector<double> forces(6 * std::size_t(num_obstacles), 0.0);
  if (implementation_->explicit_steps) {
    implementation_->explicit_steps->contact()->add_obstacle_forces(first, forces);
  } else {
    contact.barrier.add_obstacle_forces(first, forces);
    contact.friction.add_obstacle_forces(first, forces);
  }
  problem().particles->points->comm->sum(forces);
  return forces;
}

const std::vector<BrokenBond>& BondedParticlesSolver::broken_in_step() const {
  return implementation_->broken_in_step;
}
const std::vector<double>& BondedParticlesSolver::reactions() const {
  return implementation_->reactions_of_step;
}
void BondedParticlesSolver::interrupt_when(std::function<bool()> interrupted) {
  implementation_->interrupted = std::move(interrupted);
}
GlobalIndex BondedParticlesSolver::newton_iterations() const { return implementation_->newton_total; }

stepping::RestartData BondedParticlesSolver::restart_data() const {
  stepping::RestartData data{step(), 1, {{"broken_bonds", implementation_->num_broken}}};
  stepping::add_ledger(ledger(), data.entries);
  return data;
}

void BondedParticlesSolver::continue_from(const stepping::RestartData& data,
                                          std::vector<stepping::State> states) {
  Implementation& self = *implementation_;
  self.num_broken = stepping::value_of<GlobalIndex>(data.entries, "broken_bonds");
  self.ledger = stepping::read_ledger<ParticleLedger>(data.entries);
  self.step = data.step;
  self.history.clear();
  for (const stepping::State& state : states) self.history.push(state.id, state.u, state.v);
}

stepping::Balance BondedParticlesSolver::balance() const { return stepping::balance_of(ledger()); }

stepping::Entries BondedParticlesSolver::counts() const {
  stepping::Entries entries{{"newton", implementation_->newton_of_step},
                            {"broken_bonds", implementation_->num_broken}};
  if (problem().contact) {
    const potentials::SphereContact& pairs = problem().contact->pairs;
    const parallel::Communicator& comm = *problem().particles->points->comm;
    entries.push_back({"active_pairs", comm.sum(GlobalIndex(pairs.touching().size()))});
    entries.push_back({"min_distance", comm.min(pairs.least_gap())});
  }
  return entries;
}

stepping::Entries BondedParticlesSolver::summary() const {
  const auto& self = *implementation_;
  return {{"particles", self.problem.particles->points->num_global},
          {"bonds", self.problem.particles->num_bonds_global},
          {"broken_bonds", self.num_broken},
          {"retries", self.retries},
          {"linear_iterations", GlobalIndex(self.objective.linear_iterations())},
          {"linear_solver", self.objective.linear_solver().description()}};
}

std::string BondedParticlesSolver::description() const {
  return fmt::format("{} particles, {} bonds", problem().particles->points->num_global,
                     problem().particles->num_bonds_global);
}

bool BondedParticlesSolver::repeatable() const {
  return implementation_->explicit_steps || implementation_->objective.linear_solver().repeatable();
}

} // namespace recoil::solvers
