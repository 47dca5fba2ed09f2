#include "recoil/solvers/elastodynamics/solver.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "recoil/solvers/elastodynamics/norms.hpp"
#include "recoil/stepping/hierarchy_entries.hpp"
#include "solvers/elastodynamics/recorded_steps.hpp"
#include "solvers/elastodynamics/step_solver.hpp"

namespace recoil::solvers {

namespace {
/// How many inverted cells a message names.
constexpr std::size_t num_named = 10;
} // namespace

template <int dim>
struct ElastodynamicsSolver<dim>::Implementation {
  Implementation(ElastodynamicsProblem<dim> given, ElastodynamicsOptions chosen)
      : problem(std::move(given)), options(std::move(chosen)), step_solver(problem, options),
        history(options.dynamics == Dynamics::dynamic ? options.bdf_order : 1) {}

  /// Tries the nominal step as `parts` steps; a failure leaves everything as it was.
  stepping::StepAttempt attempt(int parts, std::vector<SolvedStep>& states,
                                std::vector<stepping::StepRecord>& records, std::vector<Ledger>& ledgers,
                                StepReport& report);
  stepping::StepCoefficients coefficients_for(const stepping::History& past, int parts) const;
  StepTarget target_of(int part, int parts) const;
  void observe(StepReport& report);
  RecordedRun<dim> recorded_run(GlobalIndex num_records) {
    return {problem, options, step_solver.objective(), step_solver.loose(), num_records};
  }
  /// Time and load factor of the newest nominal state.
  double accepted_time() const;
  double accepted_load_factor() const;

  ElastodynamicsProblem<dim> problem;
  ElastodynamicsOptions options;
  StepSolver<dim> step_solver;
  stepping::History history;
  GlobalIndex step = 0;
  Ledger ledger;
  std::vector<double> obstacles;        ///< displacement at the newest state
  StepReport report;                    ///< of the last step
  const SolvedStep* observed = nullptr; ///< the state that is just being shown
  double barrier_stiffness = 0;         ///< physical, of the last solve
  bool records_supports = false;
};

template <int dim>
stepping::StepCoefficients
ElastodynamicsSolver<dim>::Implementation::coefficients_for(const stepping::History& past, int parts) const {
  if (options.dynamics != Dynamics::dynamic) return {};
  return parts > 1 ? stepping::bdf_coefficients(1) : past.next_coefficients();
}

template <int dim>
StepTarget ElastodynamicsSolver<dim>::Implementation::target_of(int part, int parts) const {
  const double share = (part + 1.0) / parts;
  if (options.dynamics == Dynamics::statics) return {1.0, 0.0, share};
  return {options.t0 + (step + share) * options.dt, options.dt / parts, 1.0};
}

/// What contact looks like in the state just accepted.
template <int dim>
void ElastodynamicsSolver<dim>::Implementation::observe(StepReport& report) {
  const potentials::ContactState<dim>& contact = *problem.contact;
  ContactTotals& totals = step_solver.totals().contact;
  report.min_distance = contact.min_distance();
  report.active_pairs = contact.num_pairs();
  report.friction = contact.friction_counts();
  totals.min_distance = std::min(totals.min_distance, report.min_distance);
  totals.max_active_pairs = std::max(totals.max_active_pairs, report.active_pairs);
  totals.intersections += contact.num_intersections();
}

template <int dim>
stepping::StepAttempt
ElastodynamicsSolver<dim>::Implementation::attempt(int parts, std::vector<SolvedStep>& states,
                                                   std::vector<stepping::StepRecord>& records,
                                                   std::vector<Ledger>& ledgers, StepReport& report) {
  if (problem.contact) problem.contact->set_obstacle_displacement(obstacles);
  // Sub-steps run on a copy of the past, so that a failure half-way leaves no trace.
  stepping::History sub_steps(history.max_order());
  const stepping::History* past = &history;
  if (parts > 1) {
    sub_steps.push(history.newest().id, history.newest().u, history.newest().v);
    past = &sub_steps;
  }
  for (int part = 0; part < parts; ++part) {
    const StepTarget target = target_of(part, parts);
    const stepping::StepCoefficients coefficients = coefficients_for(*past, parts);
    SolvedStep solved = step_solver.solve(*past, target, coefficients);
    report.newton_iterations += solved.newton_iterations;
    report.linear_iterations += solved.linear_iterations;
    if (!solved.done)
      return {false, solved.newton.outcome == newton::NewtonOutcome::interrupted, solved.is_hopeless,
              solved.failure};
    stepping::StepRecord record =
        past->next_record(past->newest().id + 1, step + 1, target.time, target.dt, coefficients);
    record.completes_nominal = part + 1 == parts;
    const StepForLedger<dim> balance{&solved.u, &solved.v, &past->newest().u, &past->newest().v,
                                     options.dynamics == Dynamics::dynamic ? &solved.acceleration : nullptr};
    const IncrementalPotential<dim>& objective = step_solver.objective();
    barrier_stiffness = objective.stiffness() / objective.scale();
    if (records_supports) solved.support_force = linalg::Vector(solved.u.shared_layout());
    ledgers.push_back(
        close_step(problem, ledgers.empty() ? ledger : ledgers.back(), balance, barrier_stiffness,
                   records_supports ? solved.support_force.write_owned() : std::span<double>()));
    if (problem.contact) observe(report);
    if (parts > 1) sub_steps.push(record.id, solved.u, solved.v);
    records.push_back(record);
    states.push_back(std::move(solved));
  }
  return {true};
}

template <int dim>
double ElastodynamicsSolver<dim>::Implementation::accepted_time() const {
  if (options.dynamics == Dynamics::statics) return 1;
  return options.t0 + step * options.dt;
}

template <int dim>
double ElastodynamicsSolver<dim>::Implementation::accepted_load_factor() const {
  return options.dynamics == Dynamics::statics && step == 0 ? 0 : 1;
}

template <int dim>
ElastodynamicsSolver<dim>::ElastodynamicsSolver(ElastodynamicsProblem<dim> problem,
                                                ElastodynamicsOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(problem), std::move(options))) {}

template <int dim>
ElastodynamicsSolver<dim>::~ElastodynamicsSolver() = default;
template <int dim>
ElastodynamicsSolver<dim>::ElastodynamicsSolver(ElastodynamicsSolver&&) noexcept = default;

template <int dim>
void ElastodynamicsSolver<dim>::start(GlobalIndex step, std::vector<stepping::State> states,
                                      const Ledger& ledger, const ContactTotals& contact) {
  Implementation& self = *implementation_;
  self.step = step;
  self.ledger = ledger;
  self.step_solver.totals().contact = contact;
  self.step_solver.objective().restore(linalg::HierarchyRecord{});
  self.history.clear();
  for (const stepping::State& state : states) self.history.push(state.id, state.u, state.v);
  if (!self.problem.contact) return;
  self.obstacles = self.problem.obstacle_motion(self.accepted_time(), self.accepted_load_factor());
  self.problem.contact->set_obstacle_displacement(self.obstacles);
  if (step == 0)
    self.ledger.barrier = self.step_solver.barrier_energy_at_start(self.history, self.target_of(0, 1),
                                                                   self.coefficients_for(self.history, 1));
}

template <int dim>
void ElastodynamicsSolver<dim>::interrupt_when(std::function<bool()> interrupted) {
  implementation_->step_solver.interrupt_when(std::move(interrupted));
}

template <int dim>
void ElastodynamicsSolver<dim>::tighten_friction(double share) {
  double& tolerance = implementation_->options.friction_tolerance;
  tolerance = std::min(tolerance, share);
}

template <int dim>
void ElastodynamicsSolver<dim>::start_near(KnownStates known) {
  implementation_->step_solver.start_near(std::move(known));
}

template <int dim>
stepping::RestartData ElastodynamicsSolver<dim>::restart_data() const {
  stepping::RestartData data{step(), history().size()};
  stepping::add_ledger(ledger(), data.entries);
  stepping::add_hierarchy(implementation_->step_solver.objective().linear_solver().hierarchy_record(),
                          data.entries);
  for_each_entry(totals().contact, [&](const std::string& name, const auto& value) {
    data.entries.push_back({name, value});
  });
  return data;
}

template <int dim>
void ElastodynamicsSolver<dim>::continue_from(const stepping::RestartData& data,
                                              std::vector<stepping::State> states) {
  ContactTotals contact;
  for_each_entry(contact, [&]<class Value>(const std::string& name, Value& value) {
    value = stepping::value_of<Value>(data.entries, name);
  });
  start(data.step, std::move(states), stepping::read_ledger<Ledger>(data.entries), contact);
  implementation_->step_solver.objective().restore(stepping::read_hierarchy(data.entries));
}

template <int dim>
stepping::StepOutcome ElastodynamicsSolver<dim>::advance(const OnState& on_state, int sub_steps) {
  Implementation& self = *implementation_;
  StepReport report;
  std::vector<SolvedStep> states;
  std::vector<stepping::StepRecord> records;
  std::vector<Ledger> ledgers;
  const ContactTotals before = self.step_solver.totals().contact;
  IncrementalPotential<dim>& objective = self.step_solver.objective();
  // Steps that fail must leave no trace that a restart would not find.
  const linalg::HierarchyRecord hierarchy = objective.linear_solver().hierarchy_record();
  stepping::StepOutcome outcome =
      stepping::repeat_in_parts(sub_steps, self.options.max_retries, [&](int parts, bool /*is_last*/) {
        if (parts > sub_steps) {
          ++self.step_solver.totals().retries;
          objective.restore(hierarchy);
        }
        self.step_solver.totals().contact = before;
        states.clear();
        records.clear();
        ledgers.clear();
        return self.attempt(parts, states, records, ledgers, report);
      });
  if (!outcome.accepted) {
    objective.restore(hierarchy);
    return outcome;
  }
  outcome.description = fmt::format("newton {}  cg {}", report.newton_iterations, report.linear_iterations);
  if (report.active_pairs > 0)
    outcome.description += fmt::format("  pairs {}  gap {:.1e}", report.active_pairs, report.min_distance);
  if (states.size() > 1) outcome.description += fmt::format(", {} sub-steps", states.size());
  if (self.problem.contact) {
    const auto obstacles = self.problem.contact->obstacle_displacement();
    self.obstacles.assign(obstacles.begin(), obstacles.end());
  }
  self.report = report;
  for (std::size_t i = 0; i < states.size(); ++i) {
    // States at the distance of sub-steps are no use to a step of full length: the order ramp starts again.
    if (states.size() > 1) self.history.clear();
    self.history.push(records[i].id, states[i].u, states[i].v);
    self.ledger = ledgers[i];
    if (i + 1 == states.size()) ++self.step;
    self.observed = &states[i];
    on_state(records[i], states[i].u, states[i].v);
  }
  self.observed = nullptr;
  return outcome;
}

template <int dim>
std::unique_ptr<stepping::BdfReverseStep>
ElastodynamicsSolver<dim>::recorded_step(GlobalIndex num_records, stepping::SweepProducts<dim>& products) {
  return make_recorded_step(implementation_->recorded_run(num_records), products);
}

template <int dim>
std::unique_ptr<stepping::BdfTangentStep>
ElastodynamicsSolver<dim>::tangent_step(GlobalIndex num_records, stepping::SweepDirections<dim>& directions) {
  return make_tangent_step(implementation_->recorded_run(num_records), directions);
}

template <int dim>
void ElastodynamicsSolver<dim>::enter_step(const stepping::StepRecord& record, std::span<const double> u,
                                           std::span<const double> previous) {
  enter_recorded_step(implementation_->recorded_run(record.id + 1), record, u, previous);
}

template <int dim>
GlobalIndex ElastodynamicsSolver<dim>::step() const {
  return implementation_->step;
}
template <int dim>
double ElastodynamicsSolver<dim>::time() const {
  return implementation_->accepted_time();
}
template <int dim>
const stepping::History& ElastodynamicsSolver<dim>::history() const {
  return implementation_->history;
}
template <int dim>
const Ledger& ElastodynamicsSolver<dim>::ledger() const {
  return implementation_->ledger;
}
template <int dim>
const SolverTotals& ElastodynamicsSolver<dim>::totals() const {
  return implementation_->step_solver.totals();
}
template <int dim>
const ElastodynamicsProblem<dim>& ElastodynamicsSolver<dim>::problem() const {
  return implementation_->problem;
}

template <int dim>
std::string ElastodynamicsSolver<dim>::check_state(const linalg::Vector& u) const {
  const auto& problem = implementation_->problem;
  double energy = 0;
  for (const auto* potential : problem.elastic) energy += potential->value(u.local());
  if (std::isfinite(problem.space->comm().sum(energy))) return describe_intersections(u);
  std::ostringstream text;
  for (const WorstCell& worst : worst_cells(*problem.space, *problem.geometry, u, num_named)) {
    // A curved cell may be inverted between the points that are looked at here.
    if (worst.ratio > 0 && text.tellp() > 0) break;
    text << (text.tellp() > 0 ? "\n  " : "") << describe(worst, problem.space->mesh().body_names)
         << " is inverted (volume ratio " << worst.ratio << ")";
  }
  return text.str();
}

template <int dim>
std::string ElastodynamicsSolver<dim>::describe_intersections(const linalg::Vector& u) const {
  if (!implementation_->problem.contact) return "";
  potentials::ContactState<dim>& contact = *implementation_->problem.contact;
  contact.update(u.local());
  std::vector<std::string> first;
  const GlobalIndex count = contact.num_intersections(&first);
  if (count == 0 && contact.min_distance() > 0) return "";
  std::string text = std::to_string(count) + " intersections or contacts at distance zero at the start";
  if (first.empty()) first.push_back(contact.closest_pair().description);
  for (const std::string& line : first) text += "\n  " + line;
  return text;
}

template <int dim>
double ElastodynamicsSolver<dim>::start_time() const {
  return implementation_->options.dynamics == Dynamics::statics ? 0 : implementation_->options.t0;
}
template <int dim>
std::shared_ptr<const linalg::VectorLayout> ElastodynamicsSolver<dim>::layout() const {
  return problem().space->layout();
}

template <int dim>
stepping::Balance ElastodynamicsSolver<dim>::balance() const {
  return stepping::balance_of(ledger());
}

template <int dim>
stepping::Entries ElastodynamicsSolver<dim>::counts() const {
  stepping::Entries counts;
  for_each_count(implementation_->report, [&](const char* name, auto count) {
    counts.push_back({name, count});
  });
  return counts;
}

template <int dim>
stepping::Entries ElastodynamicsSolver<dim>::summary() const {
  const fem::FunctionSpace<dim>& space = *problem().space;
  const SolverTotals& sum = totals();
  stepping::Entries entries{{"dofs", space.num_nodes_global() * dim},
                            {"vertices", space.mesh().num_vertices_global},
                            {"elements", space.mesh().num_cells_global},
                            {"chord_steps", sum.chord_steps},
                            {"linear_iterations", sum.linear_iterations},
                            {"sub_moves", sum.sub_moves},
                            {"motion_solves", sum.motion_solves},
                            {"projected_iterations", sum.projected},
                            {"retried_steps", sum.retries},
                            {"assembly_s", sum.assembly_seconds + sum.gradient_seconds},
                            {"linear_solve_s", sum.linear_solve_seconds},
                            {"line_search_s", sum.line_search_seconds},
                            {"collision_s", sum.collision_seconds}};
  for_each_entry(sum.contact, [&](const char* name, auto value) { entries.push_back({name, value}); });
  entries.push_back(
      {"linear_solver", implementation_->step_solver.objective().linear_solver().description()});
  const DisplacementNorms norms = displacement_norms(space, *problem().geometry, history().newest().u);
  entries.insert(entries.end(), {{"err_l2", norms.l2},
                                 {"err_h1", norms.h1},
                                 {"err_h1_semi", norms.h1_semi},
                                 {"err_linf", norms.linf},
                                 {"err_lp", norms.l8}});
  return entries;
}

template <int dim>
std::string ElastodynamicsSolver<dim>::description() const {
  const fem::FunctionSpace<dim>& space = *problem().space;
  const auto& mesh = space.mesh();
  return fmt::format("{} bodies, {} vertices, {} cells, {} unknowns ({} prescribed) on {} rank(s); {}",
                     mesh.body_names.size(), mesh.num_vertices_global, mesh.num_cells_global,
                     space.num_nodes_global() * dim, problem().dirichlet->num_global(), space.comm().size(),
                     implementation_->step_solver.objective().linear_solver().description());
}

template <int dim>
const linalg::Vector* ElastodynamicsSolver<dim>::contact_force() const {
  const auto& self = *implementation_;
  return self.problem.contact && self.observed ? &self.observed->contact_force : nullptr;
}
template <int dim>
const linalg::Vector* ElastodynamicsSolver<dim>::friction_force() const {
  const auto& self = *implementation_;
  return self.problem.contact && self.observed ? &self.observed->friction_force : nullptr;
}
template <int dim>
void ElastodynamicsSolver<dim>::record_support_forces() {
  implementation_->records_supports = true;
}
template <int dim>
const linalg::Vector* ElastodynamicsSolver<dim>::support_force() const {
  const auto& self = *implementation_;
  return self.records_supports && self.observed ? &self.observed->support_force : nullptr;
}
template <int dim>
double ElastodynamicsSolver<dim>::barrier_stiffness() const {
  return implementation_->barrier_stiffness;
}
template <int dim>
bool ElastodynamicsSolver<dim>::repeatable() const {
  return implementation_->step_solver.objective().linear_solver().repeatable();
}

template class ElastodynamicsSolver<2>;
template class ElastodynamicsSolver<3>;

} // namespace recoil::solvers
