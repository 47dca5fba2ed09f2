#include "recoil/solvers/bdem/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/particles/bond_values.hpp"
#include "recoil/solvers/bdem/critical_time_step.hpp"
#include "recoil/solvers/bdem/softening.hpp"
#include "recoil/solvers/bdem/stress_corrosion.hpp"
#include "recoil/stepping/hierarchy_entries.hpp"
#include "solvers/bdem/breaking.hpp"
#include "solvers/bdem/energy_watch.hpp"
#include "solvers/bdem/explicit_steps.hpp"
#include "solvers/bdem/implicit_steps.hpp"
#include "solvers/bdem/recorded_steps.hpp"
#include "solvers/bdem/stress_ratio.hpp"

namespace recoil::solvers {

using linalg::Vector;

namespace {

/// Share of the energies in play above which what an implicit step loses once bonds are broken is much.
constexpr double much_of_energy = 1e-4;
/// The same of steps in which particles collide: many of them make up a collision, of which 1 % is much.
constexpr double much_of_collision = 1e-6;

/// In restart data: how far a plane that holds a force has gone.
std::string servo_entry(std::size_t plane) { return fmt::format("servo_way_{}", plane); }
/// The same of an entry of the deformation of the cell that is free.
std::string cell_entry(int entry) { return fmt::format("cell_F_{}", entry); }

} // namespace

struct BondedParticlesSolver::Implementation {
  Implementation(BondedParticles given, BondedParticlesOptions chosen)
      : problem(std::move(given)), options(chosen), objective(problem, options),
        implicit_steps(problem, options, objective), history(1, implicit_steps.manifold()), watch(problem) {
    if (problem.softens() && !problem.strength)
      throw InputError("<damage_width>",
                       "bonds soften where they reach their strength, and none has one; give a material "
                       "`tensile_strength` or `shear_strength`, or leave this out");
    if (problem.softens() && options.integrator == ParticleIntegrator::leapfrog)
      throw InputError("<damage_width>",
                       "bonds of \"leapfrog\" are brittle; take \"be_reflect\" or \"mid_reflectT\", or "
                       "leave this out");
    if (problem.corrodes() && (problem.softens() || !problem.strength))
      throw InputError("<stress_corrosion>",
                       "lets bonds break where their stress comes to their tensile strength; give them one, "
                       "and leave out `damage_width`, which lets them soften");
    if (problem.bond_damping && options.integrator == ParticleIntegrator::del_exact)
      throw InputError("<integrator>",
                       "\"del_exact\" has no damping of bonds; take \"be_reflect\", \"mid_reflectT\" or "
                       "\"leapfrog\", or leave out `damping_time`");
    if (problem.has_springs() && options.contact_law != potentials::ContactLaw::hertz)
      throw InputError("<tangential_law>",
                       "\"mindlin\" takes its stiffness from the contacts of Hertz' law; write "
                       "\"contact_law\": \"hertz\", or \"coulomb\" here");
    takes_breaks = !problem.servo && may_take_breaks();
    takes_collisions = !problem.servo && may_take_collisions();
    if (problem.servo) servo_ways = problem.servo->ways();
    switches = takes_breaks || takes_collisions;
    if (is_leapfrog() || switches) explicit_steps.emplace(problem, options.explicit_share);
    if (problem.contact)
      problem.barrier->set_law(options.contact_law.value_or(is_leapfrog() ? potentials::ContactLaw::penalty
                                                                          : potentials::ContactLaw::barrier));
  }

  /// Time at the end of a part of the next step [s]: that of the last one is, to the bit, what time() gives
  /// after the step, so that records and tables agree.
  double end_of_part(int part, int parts) const {
    return options.t0 + (double(step) + double(part + 1) / parts) * options.dt;
  }
  /// Length of the sub-steps of leapfrog in a whole step [s]; 0 for other integrators.
  double sub_step() const {
    return explicit_steps ? options.dt / explicit_steps->num_sub_steps(options.dt) : 0;
  }
  bool has_barrier() const {
    return problem.barrier && problem.barrier->law() == potentials::ContactLaw::barrier;
  }
  bool is_leapfrog() const { return options.integrator == ParticleIntegrator::leapfrog; }
  bool may_take_collisions() const;
  bool may_take_breaks() const;
  bool is_taken_by_leapfrog(const ParticleLedger& before) const;
  double broken_share_for_leapfrog() const {
    return options.sudden_breaking == SuddenBreaking::impacts ? 0 : options.max_broken_share;
  }
  bool is_much(double loss) const { return loss > much_of_energy * watch.in_play(); }
  bool touches() const { return problem.particles->points->comm->any(!problem.contact->touching().empty()); }
  bool is_collision(const ParticleLedger& before, const ParticleStep& step) const;
  double loss_by_implicit_step(const stepping::State& from, const ParticleStep& step) const;
  void restore_bonds(const std::vector<char>& broken);
  void corrode(const stepping::State& from, double time, double dt, ParticleStep& step);
  ParticleStep take(const stepping::State& from, const ParticleLedger& before, double time, double dt,
                    bool last_try);
  void take_parts(int parts, bool last_try, std::vector<ParticleStep>& states);
  ParticleStep take_explicit(const stepping::State& from, const ParticleLedger& before, double time,
                             double dt);
  ParticleStep take_sub_steps(const stepping::State& from, const ParticleLedger& before, double time,
                              double dt, int refinement);
  std::string instability(double dt, int refinement) const;
  ParticleStep take_either(const stepping::State& from, const ParticleLedger& before, double time, double dt,
                           bool last_try);

  BondedParticles problem;
  BondedParticlesOptions options;
  ParticleIncrementalPotential objective;
  ImplicitSteps implicit_steps;
  std::optional<ExplicitSteps> explicit_steps; ///< of leapfrog, or where it takes some of the steps
  stepping::History history;
  std::function<bool()> interrupted;
  GlobalIndex step = 0, num_broken = 0;
  GlobalIndex retries = 0, newton_of_step = 0, passes_of_step = 0;
  /// Leapfrog takes steps in which many bonds break, in which particles collide, or either.
  bool takes_breaks = false, takes_collisions = false, switches = false;
  GlobalIndex steps_of_leapfrog = 0; ///< of a solver that switches
  bool is_breaking = false;          ///< it goes on with leapfrog
  bool last_is_explicit = false;     ///< the last step was leapfrog's
  /// Iterations and passes before the particles were moved to other ranks.
  GlobalIndex newton_before = 0, linear_before = 0, passes_before = 0;
  ParticleLedger ledger;
  EnergyWatch watch;
  std::vector<BrokenBond> broken_in_step;
  std::vector<double> reactions_of_step;
  std::vector<double> servo_ways; ///< at the newest state, as the next
  Eigen::Matrix3d cell_F = Eigen::Matrix3d::Identity();
};

/// Gives bonds back what they were at the newest state.
void BondedParticlesSolver::Implementation::restore_bonds(const std::vector<char>& broken) {
  if (!problem.softens()) problem.bonds->set_broken(broken);
  set_internal(problem, history.newest().internal);
}

/// Spheres that come deep into each other may come out on the other side.
void warn_of_overlap(const BondedParticles& problem, double deepest) {
  constexpr double much = 0.5;
  if (deepest > much)
    log_warning_once(fmt::format("contact has let particles overlap by {:.0f} % of a radius and more: the "
                                 "penalty of leapfrog is too soft for their speeds; raise "
                                 "<barrier_stiffness>, {:g} N/m here",
                                 100 * much, problem.barrier->stiffness()));
}

/// One step of leapfrog. Fast particles may pass through a barrier in one sub-step: then in shorter ones.
ParticleStep BondedParticlesSolver::Implementation::take_explicit(const stepping::State& from,
                                                                  const ParticleLedger& before, double time,
                                                                  double dt) {
  const int most = has_barrier() ? 64 : 1;
  const std::vector<char> broken_before(problem.bonds->broken().begin(), problem.bonds->broken().end());
  for (int refinement = 1;; refinement *= 2) {
    ParticleStep step = take_sub_steps(from, before, time, dt, refinement);
    if (step.done || step.interrupted || refinement == most) return step;
    restore_bonds(broken_before);
    set_internal(problem, from.internal);
  }
}

ParticleStep BondedParticlesSolver::Implementation::take_sub_steps(const stepping::State& from,
                                                                   const ParticleLedger& before, double time,
                                                                   double dt, int refinement) {
  ParticleStep step;
  step.u = from.u;
  step.v = from.v;
  ExplicitSteps::Outcome outcome = explicit_steps->advance(step.u, step.v, time, dt, refinement, interrupted);
  step.broken = std::move(outcome.broken);
  step.interrupted = outcome.interrupted;
  if (step.interrupted) return step;
  const double deepest =
      problem.contact ? step.u.layout().comm->max(explicit_steps->contact()->deepest_overlap()) : 0;
  if (outcome.diverged || (has_barrier() && deepest > 0)) {
    step.failure = instability(dt, refinement);
    return step;
  }
  warn_of_overlap(problem, deepest);
  double broken = 0;
  for (const BrokenBond& bond : step.broken) broken += bond.energy;
  std::array<double, 6> sums{
      outcome.external_work,       outcome.bond_work,          broken,
      outcome.dissipated_friction, outcome.dissipated_damping, outcome.dissipated_bonds};
  step.u.layout().comm->sum(sums);
  double spring_energy = 0, spring_change = 0;
  if (problem.has_springs()) {
    step.springs = potentials::packed(explicit_steps->contact()->springs());
    spring_energy = explicit_steps->contact()->spring_energy();
    spring_change = step.u.layout().comm->sum(explicit_steps->contact()->spring_energy_change());
  }
  step.ledger = measure(problem, step.u, step.v, implicit_steps.contact_energy(step.u) + spring_energy);
  step.ledger.external_work = before.external_work + sums[0];
  step.ledger.broken = before.broken + sums[2];
  step.ledger.dissipated_friction = before.dissipated_friction + sums[3];
  step.ledger.dissipated_damping = before.dissipated_damping + sums[4];
  step.ledger.dissipated_bonds = before.dissipated_bonds + sums[5];
  step.ledger.dissipated_integrator =
      before.dissipated_integrator + sums[1] - (step.ledger.elastic - before.elastic) -
      (step.ledger.barrier - before.barrier - spring_change) - sums[2] - sums[5];
  step.done = std::isfinite(step.ledger.kinetic + step.ledger.elastic);
  std::vector<double> gradient(step.v.owned().size(), 0.0);
  problem.bonds->take_at(potentials::BondPotential::At::end);
  problem.bonds->add_gradient(step.u.local(), 1, gradient);
  explicit_steps->add_damping_gradient(step.u, step.v, time, gradient);
  explicit_steps->add_contact_gradient(step.u, gradient);
  objective.begin_step(step.u, step.u, time, dt);
  step.reactions = solvers::reactions(objective, problem, from, dt, gradient, step);
  // A barrier that sub-steps do not resolve throws particles apart.
  const double fed = before.dissipated_integrator - step.ledger.dissipated_integrator,
               held = before.kinetic + before.elastic + before.barrier + std::abs(sums[0]);
  step.done = step.done && !(has_barrier() && fed > 0.02 * held);
  if (!step.done) step.failure = instability(dt, refinement);
  return step;
}

std::string BondedParticlesSolver::Implementation::instability(double dt, int refinement) const {
  return fmt::format("leapfrog is unstable with sub-steps of {:.3g}{}; lower <explicit_share>, {:g} here",
                     dt / (refinement * explicit_steps->num_sub_steps(dt)),
                     has_barrier() ? ", or particles overlap, where the barrier is infinite" : "",
                     options.explicit_share);
}

/// Whether leapfrog may take steps in which particles collide.
bool BondedParticlesSolver::Implementation::may_take_collisions() const {
  const bool is_ours = options.integrator == ParticleIntegrator::be_reflect ||
                       options.integrator == ParticleIntegrator::mid_reflectT;
  return problem.damping && is_ours && options.sudden_breaking != SuddenBreaking::shorter_steps &&
         !problem.softens();
}

/// Whether leapfrog may take steps in which bonds break.
bool BondedParticlesSolver::Implementation::may_take_breaks() const {
  if (options.sudden_breaking == SuddenBreaking::leapfrog) return !is_leapfrog();
  const bool is_ours = options.integrator == ParticleIntegrator::be_reflect ||
                       options.integrator == ParticleIntegrator::mid_reflectT;
  return options.sudden_breaking == SuddenBreaking::impacts && is_ours && problem.contact &&
         problem.strength && !problem.softens() &&
         options.dt <= BondedParticlesOptions::longest_impact_step * undamped_time_step(problem);
}

/// Whether a step after this one is leapfrog's if it breaks bonds. Where bodies move, what breaks them is
/// waves, of which implicit steps of this length know nothing; where they are loaded slowly, their strain.
bool BondedParticlesSolver::Implementation::is_taken_by_leapfrog(const ParticleLedger& before) const {
  return options.sudden_breaking == SuddenBreaking::leapfrog ||
         before.kinetic > before.elastic + before.barrier;
}

/// What backward Euler would lose in a step by leapfrog, by the change of velocities alone: 1/2 dv' M dv [J].
/// Collective.
double BondedParticlesSolver::Implementation::loss_by_implicit_step(const stepping::State& from,
                                                                    const ParticleStep& step) const {
  double sum = 0;
  for (std::size_t i = 0; i < step.v.owned().size(); ++i) {
    const double dv = step.v.owned()[i] - from.v.owned()[i];
    if (problem.prescribed[i] == 0) sum += objective.mass()[i] * dv * dv / 2;
  }
  return step.v.layout().comm->sum(sum);
}

/// Whether an implicit step is too long for what contacts with a restitution do in it. Collective.
bool BondedParticlesSolver::Implementation::is_collision(const ParticleLedger& before,
                                                         const ParticleStep& step) const {
  if (!takes_collisions) return false;
  const double loss = step.ledger.dissipated_integrator + step.ledger.dissipated_damping -
                      before.dissipated_integrator - before.dissipated_damping;
  return loss > much_of_collision * watch.in_play() && (before.barrier > 0 || touches());
}

/// One step of a solver that switches: leapfrog takes those that break bonds suddenly, goes on as long as an
/// implicit step would break any or lose much energy, and takes over again where, once bonds are broken, one
/// has: what fragments lose in collisions that no step resolves would be missing for further breaks. Whether
/// leapfrog goes on belongs to the state of the run.
ParticleStep BondedParticlesSolver::Implementation::take_either(const stepping::State& from,
                                                                const ParticleLedger& before, double time,
                                                                double dt, bool last_try) {
  if (!is_breaking) {
    const bool hands_over = takes_breaks && is_taken_by_leapfrog(before);
    const double most = hands_over ? broken_share_for_leapfrog() : last_try ? 1 : options.max_broken_share;
    const std::vector<char> intact_before(problem.bonds->broken().begin(), problem.bonds->broken().end());
    ParticleStep step = implicit_steps.take(from, before, time, dt, most);
    last_is_explicit = false;
    if (!step.done && !(hands_over && step.breaks_suddenly)) return step;
    const double loss = step.ledger.dissipated_integrator - before.dissipated_integrator;
    if (step.done && !(hands_over && num_broken > 0 && is_much(loss)) && !is_collision(before, step))
      return step;
    problem.bonds->set_broken(intact_before);
    if (steps_of_leapfrog == 0)
      log_info(fmt::format("{}: leapfrog takes this step and those after it that need it (<sudden_breaking>)",
                           takes_collisions ? "particles collide" : "motion breaks bonds"));
  }
  const std::vector<char> intact(problem.bonds->broken().begin(), problem.bonds->broken().end());
  ParticleStep step = take_explicit(from, before, time, dt);
  last_is_explicit = true;
  if (step.interrupted) return step;
  if (!step.done) {
    // Sub-steps that a barrier holds would be too short: implicit ones keep it whatever their length.
    restore_bonds(intact);
    last_is_explicit = is_breaking = false;
    return implicit_steps.take(from, before, time, dt, last_try ? 1 : options.max_broken_share);
  }
  ++steps_of_leapfrog;
  const double broken = double(step.u.layout().comm->sum(GlobalIndex(step.broken.size())));
  const double loss = loss_by_implicit_step(from, step);
  is_breaking =
      (takes_breaks && (broken > broken_share_for_leapfrog() * double(problem.particles->num_bonds_global) ||
                        is_much(loss))) ||
      (takes_collisions && loss > much_of_collision * watch.in_play() && touches());
  return step;
}

ParticleStep BondedParticlesSolver::Implementation::take(const stepping::State& from,
                                                         const ParticleLedger& before, double time, double dt,
                                                         bool last_try) {
  set_internal(problem, from.internal);
  ParticleStep step =
      switches        ? take_either(from, before, time, dt, last_try)
      : is_leapfrog() ? take_explicit(from, before, time, dt)
                      : implicit_steps.take(from, before, time, dt, last_try ? 1 : options.max_broken_share);
  if (step.done && problem.corrodes()) corrode(from, time, dt, step);
  step.internal.insert(step.internal.end(), step.springs.begin(), step.springs.end());
  return step;
}

/// Shrinks bonds by what they bear at the end of a step, which costs their energy there, and severs those
/// that come to their strength.
void BondedParticlesSolver::Implementation::corrode(const stepping::State& from, double time, double dt,
                                                    ParticleStep& step) {
  const auto u = step.u.local();
  const auto num_bonds = problem.particles->bonds.size();
  ShrunkSections sections = shrunk_sections(problem, std::span(from.internal).first(num_bonds), u, dt);
  const auto broken = break_corroded(problem, sections.failed, u, time);
  step.broken.insert(step.broken.end(), broken.begin(), broken.end());
  step.internal = std::move(sections.shares);
  set_internal(problem, step.internal);
  const double elastic = step.u.layout().comm->sum(problem.bonds->stored_energy(u));
  step.ledger.broken += step.ledger.elastic - elastic;
  step.ledger.elastic = elastic;
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
  self.objective.restore(linalg::HierarchyRecord{});
  self.history.clear();
  self.history.push(0, u, v, sound_internal(self.problem));
  set_internal(self.problem, self.history.newest().internal);
  std::ranges::fill(self.servo_ways, 0.0);
  self.cell_F.setIdentity();
  if (self.problem.cell_motion) self.problem.cell_motion->keep(self.cell_F);
  if (self.problem.servo) self.problem.servo->put(self.servo_ways);
  self.problem.begin_contact(self.options.t0, 0, u.local());
  self.ledger = measure(self.problem, u, v, self.implicit_steps.contact_energy(u));
  self.watch.begin(self.ledger);
}

/// Takes a nominal step in equal parts, until one of them fails.
void BondedParticlesSolver::Implementation::take_parts(int parts, bool last_try,
                                                       std::vector<ParticleStep>& states) {
  stepping::State from = history.newest();
  ParticleLedger before = ledger;
  if (problem.servo) problem.servo->put(servo_ways);
  if (problem.cell_motion) problem.cell_motion->keep(cell_F);
  for (int part = 0; part < parts; ++part) {
    states.push_back(take(from, before, end_of_part(part, parts), options.dt / parts, last_try));
    const ParticleStep& taken = states.back();
    if (!taken.done) return;
    if (problem.servo) problem.servo->put(problem.servo->ways());
    if (problem.cell_motion) problem.cell_motion->keep(taken.F);
    from.u.copy_from(taken.u);
    from.v.copy_from(taken.v);
    from.internal = taken.internal;
    before = taken.ledger;
  }
}

stepping::StepOutcome BondedParticlesSolver::advance(const OnState& on_state, int sub_steps) {
  Implementation& self = *implementation_;
  const GlobalIndex newton_before = newton_iterations(), passes_before = breaking_passes();
  // Halved steps have the same sub-steps of leapfrog.
  const int max_retries = self.is_leapfrog() ? 0 : self.options.max_retries;
  const std::vector<char> broken_before(self.problem.bonds->broken().begin(),
                                        self.problem.bonds->broken().end());
  const bool breaking_before = self.is_breaking;
  // Steps that fail must leave no trace that a restart would not find.
  const linalg::HierarchyRecord hierarchy = self.objective.linear_solver().hierarchy_record();
  const auto restore = [&] {
    self.restore_bonds(broken_before);
    self.is_breaking = breaking_before;
  };
  std::vector<ParticleStep> states;
  stepping::StepOutcome outcome =
      stepping::repeat_in_parts(sub_steps, max_retries, [&](int parts, bool is_last) {
        if (parts > sub_steps) {
          ++self.retries;
          self.objective.restore(hierarchy);
        }
        states.clear();
        restore();
        self.take_parts(parts, is_last, states);
        const ParticleStep& last = states.back();
        return stepping::StepAttempt{last.done, last.interrupted, false, last.failure};
      });
  if (!outcome.accepted) {
    restore();
    self.objective.restore(hierarchy);
    return outcome;
  }
  if (self.problem.servo) self.servo_ways = self.problem.servo->ways();
  self.cell_F = states.back().F;
  const int parts = int(states.size());
  self.newton_of_step = newton_iterations() - newton_before;
  self.passes_of_step = breaking_passes() - passes_before;
  self.broken_in_step.clear();
  GlobalIndex broken = 0;
  for (int part = 0; part < parts; ++part) {
    ParticleStep& state = states[part];
    stepping::StepRecord record = self.history.next_record(
        self.history.newest().id + 1, self.step + 1, self.end_of_part(part, parts), self.options.dt / parts,
        self.objective.has_inertia() ? stepping::bdf_coefficients(1) : stepping::StepCoefficients{});
    record.completes_nominal = part + 1 == parts;
    self.history.push(record.id, state.u, state.v, state.internal);
    set_internal(self.problem, state.internal);
    self.ledger = state.ledger;
    self.watch.follow(self.ledger);
    self.reactions_of_step = std::move(state.reactions);
    self.broken_in_step.insert(self.broken_in_step.end(), state.broken.begin(), state.broken.end());
    const GlobalIndex broken_now =
        self.problem.particles->points->comm->sum(GlobalIndex(state.broken.size()));
    broken += broken_now;
    self.num_broken += broken_now;
    if (record.completes_nominal) ++self.step;
    if (self.problem.cell_motion) self.problem.cell_motion->keep(state.F);
    self.problem.begin_cell(record.time, record.dt);
    on_state(record, state.u, state.v);
  }
  if (!self.is_leapfrog()) outcome.description = fmt::format("newton {}", self.newton_of_step);
  if (self.is_leapfrog() || self.last_is_explicit)
    outcome.description += fmt::format("{}sub-steps {}", self.is_leapfrog() ? "" : "  ",
                                       parts * self.explicit_steps->num_sub_steps(self.options.dt / parts));
  if (broken > 0) outcome.description += fmt::format("  broken {}", broken);
  if (self.passes_of_step > 0) outcome.description += fmt::format("  passes {}", self.passes_of_step);
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
std::unique_ptr<stepping::MapReverseStep>
BondedParticlesSolver::recorded_step(stepping::SweepProducts<3>& products) {
  return make_recorded_step(implementation_->problem, implementation_->options, products);
}
std::unique_ptr<stepping::MapTangentStep>
BondedParticlesSolver::tangent_step(stepping::SweepDirections<3>& directions) {
  return make_tangent_step(implementation_->problem, implementation_->options, directions);
}
const BondedParticles& BondedParticlesSolver::problem() const { return implementation_->problem; }
void BondedParticlesSolver::move_to(BondedParticles problem) {
  const BondedParticlesOptions options = implementation_->options;
  const GlobalIndex newton = newton_iterations(), linear = linear_iterations(), passes = breaking_passes(),
                    retries = implementation_->retries, explicit_steps = implementation_->steps_of_leapfrog;
  const auto interrupted = implementation_->interrupted;
  // Matrices of both would take the memory of both.
  implementation_.reset();
  implementation_ = std::make_unique<Implementation>(std::move(problem), options);
  implementation_->newton_before = newton;
  implementation_->linear_before = linear;
  implementation_->passes_before = passes;
  implementation_->retries = retries;
  implementation_->steps_of_leapfrog = explicit_steps;
  interrupt_when(interrupted);
}
std::array<double, 2> BondedParticlesSolver::stresses(LocalIndex bond, const Vector& u) const {
  const potentials::BondPotential& bonds = *problem().bonds;
  const auto [sigma, tau] = bond_stresses(problem(), bond, bonds.forces_of(bond, u.local()));
  return {bonds.integrity(bond) * sigma, bonds.integrity(bond) * tau};
}

void BondedParticlesSolver::restore_broken(std::span<const double> flags,
                                           std::span<const double> least_distances) {
  BondedParticles& problem = implementation_->problem;
  const std::vector<double> all = particles::complete_bond_values(*problem.particles, flags);
  const std::vector<char> broken(all.begin(), all.end());
  problem.bonds->set_broken(broken);
  if (!problem.contact) return;
  const std::vector<double> distances = particles::complete_bond_values(*problem.particles, least_distances);
  for (std::size_t bond = 0; bond < broken.size(); ++bond)
    if (broken[bond] != 0) problem.contact->bond_distances()[bond] = distances[bond];
}

const ParticleLedger& BondedParticlesSolver::ledger() const { return implementation_->ledger; }

std::vector<double> BondedParticlesSolver::obstacle_forces() const {
  const potentials::SphereObstacles& obstacles = problem().contact->obstacles();
  std::int32_t num_obstacles = 0;
  const std::int32_t first = std::int32_t(problem().particles->body_names.size());
  for (const std::int32_t body : obstacles.bodies) num_obstacles = std::max(num_obstacles, body - first + 1);
  for (const auto& plane : obstacles.planes) num_obstacles = std::max(num_obstacles, plane.body - first + 1);
  std::vector<double> forces(6 * std::size_t(num_obstacles), 0.0);
  if (implementation_->is_leapfrog() || implementation_->last_is_explicit) {
    implementation_->explicit_steps->contact()->add_obstacle_forces(first, forces);
  } else {
    problem().barrier->add_obstacle_forces(first, forces);
    problem().friction->add_obstacle_forces(first, forces);
    if (problem().damping) problem().damping->add_obstacle_forces(first, forces);
  }
  problem().particles->points->comm->sum(forces);
  return forces;
}

Eigen::Matrix3d BondedParticlesSolver::contact_force_moments() const {
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  if (!problem().contact) return sum;
  sum = problem().barrier->force_moments();
  if (implementation_->is_leapfrog() || implementation_->last_is_explicit) {
    sum += implementation_->explicit_steps->contact()->friction_force_moments();
  } else {
    sum += problem().friction->force_moments();
    if (problem().damping) sum += problem().damping->force_moments();
  }
  problem().particles->points->comm->sum(std::span(sum.data(), 9));
  return sum;
}

const std::vector<BrokenBond>& BondedParticlesSolver::broken_in_step() const {
  return implementation_->broken_in_step;
}
const std::vector<double>& BondedParticlesSolver::reactions() const {
  return implementation_->reactions_of_step;
}
void BondedParticlesSolver::interrupt_when(std::function<bool()> interrupted) {
  implementation_->implicit_steps.interrupt_when(interrupted);
  implementation_->interrupted = std::move(interrupted);
}
GlobalIndex BondedParticlesSolver::newton_iterations() const {
  return implementation_->newton_before + implementation_->implicit_steps.iterations();
}
GlobalIndex BondedParticlesSolver::linear_iterations() const {
  return implementation_->linear_before + implementation_->objective.linear_iterations();
}

GlobalIndex BondedParticlesSolver::breaking_passes() const {
  return implementation_->passes_before + implementation_->implicit_steps.passes();
}

stepping::RestartData BondedParticlesSolver::restart_data() const {
  stepping::RestartData data{
      step(),
      1,
      {{"broken_bonds", implementation_->num_broken}, {"energy_in_play", implementation_->watch.in_play()}}};
  if (implementation_->switches)
    data.entries.push_back({"is_breaking", GlobalIndex(implementation_->is_breaking)});
  stepping::add_hierarchy(implementation_->objective.linear_solver().hierarchy_record(), data.entries);
  stepping::add_ledger(ledger(), data.entries);
  for (std::size_t k = 0; k < implementation_->servo_ways.size(); ++k)
    data.entries.push_back({servo_entry(k), implementation_->servo_ways[k]});
  if (problem().cell_motion)
    for (const int entry : problem().cell_motion->free_entries())
      data.entries.push_back({cell_entry(entry), implementation_->cell_F(entry / 3, entry % 3)});
  return data;
}

void BondedParticlesSolver::continue_from(const stepping::RestartData& data,
                                          std::vector<stepping::State> states) {
  Implementation& self = *implementation_;
  self.num_broken = stepping::value_of<GlobalIndex>(data.entries, "broken_bonds");
  self.watch.restore(stepping::value_of<double>(data.entries, "energy_in_play"));
  if (self.switches) self.is_breaking = stepping::value_of<GlobalIndex>(data.entries, "is_breaking") != 0;
  self.ledger = stepping::read_ledger<ParticleLedger>(data.entries);
  self.objective.restore(stepping::read_hierarchy(data.entries));
  for (std::size_t k = 0; k < self.servo_ways.size(); ++k)
    self.servo_ways[k] = stepping::value_of<double>(data.entries, servo_entry(k));
  if (self.problem.servo) self.problem.servo->put(self.servo_ways);
  if (self.problem.cell_motion) {
    for (const int entry : self.problem.cell_motion->free_entries())
      self.cell_F(entry / 3, entry % 3) = stepping::value_of<double>(data.entries, cell_entry(entry));
    self.problem.cell_motion->keep(self.cell_F);
  }
  self.step = data.step;
  self.history.clear();
  for (const stepping::State& state : states) self.history.push(state.id, state.u, state.v, state.internal);
  const std::vector<double>& internal = self.history.newest().internal;
  RECOIL_ASSERT(internal.size() ==
                sound_internal(self.problem).size() + springs_of(self.problem, internal).size());
  set_internal(self.problem, self.history.newest().internal);
  self.problem.begin_cell(time(), 0);
}

stepping::Balance BondedParticlesSolver::balance() const { return stepping::balance_of(ledger()); }

std::string BondedParticlesSolver::fault() const {
  const Implementation& self = *implementation_;
  return self.watch.fault(self.ledger, self.options, self.sub_step());
}

std::string BondedParticlesSolver::warning() const {
  const Implementation& self = *implementation_;
  return self.watch.warning(self.ledger, self.options, self.sub_step());
}

stepping::Entries BondedParticlesSolver::counts() const {
  stepping::Entries entries{{stepping::newton_count_name, implementation_->newton_of_step},
                            {"broken_bonds", implementation_->num_broken},
                            {"breaking_passes", implementation_->passes_of_step}};
  if (problem().contact) {
    const potentials::SphereContact& pairs = *problem().contact;
    const parallel::Communicator& comm = *problem().particles->points->comm;
    entries.push_back({"active_pairs", comm.sum(GlobalIndex(pairs.touching().size()))});
    entries.push_back({"min_distance", comm.min(pairs.least_gap())});
  }
  return entries;
}

stepping::Entries BondedParticlesSolver::summary() const {
  const auto& self = *implementation_;
  stepping::Entries entries{{"particles", self.problem.particles->points->num_global},
                            {"bonds", self.problem.particles->num_bonds_global},
                            {"broken_bonds", self.num_broken},
                            {"breaking_passes", breaking_passes()},
                            {"retries", self.retries},
                            {"linear_iterations", linear_iterations()},
                            {"linear_solver", self.objective.linear_solver().description()}};
  if (self.switches) entries.push_back({"steps_of_leapfrog", self.steps_of_leapfrog});
  return entries;
}

std::string BondedParticlesSolver::description() const {
  return fmt::format("{} particles, {} bonds", problem().particles->points->num_global,
                     problem().particles->num_bonds_global);
}

bool BondedParticlesSolver::repeatable() const {
  return implementation_->is_leapfrog() || implementation_->objective.linear_solver().repeatable();
}

} // namespace recoil::solvers
