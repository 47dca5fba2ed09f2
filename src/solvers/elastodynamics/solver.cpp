#include "recoil/solvers/elastodynamics/solver.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "recoil/solvers/elastodynamics/norms.hpp"
#include "solvers/elastodynamics/incremental_potential.hpp"

namespace recoil::solvers {

namespace {
/// Prescribed motion that would invert cells at once is followed in at most this many moves.
constexpr int max_sub_moves = 64;
/// Intermediate moves are only relaxed to this share of their first gradient.
constexpr double sub_move_tolerance = 1e-2;
constexpr int max_halvings = 30;
} // namespace

template <int dim>
struct ElastodynamicsSolver<dim>::Implementation {
  Implementation(ElastodynamicsProblem<dim> given, ElastodynamicsOptions chosen)
      : problem(std::move(given)), options(std::move(chosen)), objective(problem, options.linear_method),
        history(options.dynamics == Dynamics::dynamic ? options.bdf_order : 1) {
    if (options.dynamics == Dynamics::statics && options.regularization_weight > 0)
      regularization =
          std::make_unique<potentials::MassMatrix<dim>>(*problem.space, options.regularization_weight);
  }

  /// One solve from the newest state of `past`.
  struct Target {
    double time, dt, load_factor;
  };
  struct Solved {
    bool done = false;
    linalg::Vector u, v, acceleration;
    newton::NewtonResult newton;
    std::string failure;
  };

  Solved solve(const stepping::History& past, const Target& target,
               const stepping::StepCoefficients& coefficients);
  bool follow_prescribed(const Target& target, linalg::Vector& u);
  void count(const newton::NewtonResult& result);
  /// Tries the nominal step as `parts` steps; false leaves everything as it was.
  bool attempt(int parts, std::vector<Solved>& states, std::vector<stepping::StepRecord>& records,
               std::vector<Ledger>& ledgers, StepReport& report);
  stepping::StepCoefficients coefficients_for(const stepping::History& past, int parts) const;
  Target target_of(int part, int parts) const;

  ElastodynamicsProblem<dim> problem;
  ElastodynamicsOptions options;
  IncrementalPotential<dim> objective;
  newton::Euclidean manifold;
  stepping::History history;
  std::unique_ptr<potentials::MassMatrix<dim>> regularization;
  GlobalIndex step = 0;
  Ledger ledger;
  SolverTotals totals;
};

template <int dim>
void ElastodynamicsSolver<dim>::Implementation::count(const newton::NewtonResult& result) {
  totals.newton_iterations += result.iterations;
  totals.linear_iterations += result.linear_iterations;
  totals.projected += result.projected;
  totals.assembly_seconds += result.assembly_seconds;
  totals.linear_solve_seconds += result.linear_solve_seconds;
  totals.line_search_seconds += result.line_search_seconds;
  totals.gradient_seconds += result.gradient_seconds;
}

/// Moves the prescribed entries of u to their targets: straight if no cell inverts, else together with the
/// free nodes in linear elastic equilibrium, in as many moves as it takes.
template <int dim>
bool ElastodynamicsSolver<dim>::Implementation::follow_prescribed(const Target& target, linalg::Vector& u) {
  const auto is_feasible = [&](const linalg::Vector& motion, linalg::Vector& trial) {
    if (objective.max_step(u, motion) < 1) return false;
    trial.copy_from(u);
    trial.add(1, motion);
    return std::isfinite(objective.value(trial));
  };
  linalg::Vector trial = u;
  for (int move = 0; move < max_sub_moves; ++move) {
    linalg::Vector motion = u;
    problem.dirichlet->set_values(target.time, target.load_factor, motion);
    motion.add(-1, u);
    bool arrives = is_feasible(motion, trial);
    if (!arrives) {
      if (!objective.extend(u, motion)) return false;
      arrives = is_feasible(motion, trial);
      for (int halving = 0; !arrives; ++halving) {
        if (halving == max_halvings) return false;
        motion.scale(0.5);
        if (is_feasible(motion, trial)) break;
      }
    }
    u.copy_from(trial);
    if (arrives) {
      // Land on the prescribed values themselves, without rounding.
      problem.dirichlet->set_values(target.time, target.load_factor, u);
      return true;
    }
    newton::NewtonOptions relaxed = options.newton;
    relaxed.relative_gradient_tolerance = sub_move_tolerance;
    const newton::NewtonResult result = newton::minimize(objective, manifold, u, relaxed);
    count(result);
    if (!result.converged()) return false;
  }
  return false;
}

template <int dim>
typename ElastodynamicsSolver<dim>::Implementation::Solved
ElastodynamicsSolver<dim>::Implementation::solve(const stepping::History& past, const Target& target,
                                                 const stepping::StepCoefficients& coefficients) {
  const bool inertia = options.dynamics == Dynamics::dynamic;
  const linalg::Vector& previous = past.newest().u;
  Solved solved;
  linalg::Vector u_bar(previous.shared_layout()), u_tilde(previous.shared_layout());
  const double B = coefficients.scaled_dt(target.dt);
  const potentials::MassMatrix<dim>* quadratic = nullptr;
  if (inertia) {
    past.predict(coefficients, target.dt, u_bar, u_tilde);
    quadratic = problem.mass.get();
  } else if (regularization) {
    u_tilde = previous;
    quadratic = regularization.get();
  }
  potentials::StepContext context;
  context.time = target.time;
  context.dt = target.dt;
  context.load_factor = target.load_factor;
  context.previous = previous.local();
  objective.begin_step(context, quadratic, &u_tilde, inertia ? B * B : 1);

  solved.u = previous;
  if (!follow_prescribed(target, solved.u)) {
    solved.failure = "the prescribed displacements cannot be reached without inverting an element";
    return solved;
  }
  solved.newton = newton::minimize(objective, manifold, solved.u, options.newton);
  count(solved.newton);
  if (!solved.newton.converged()) {
    std::ostringstream text;
    text << "Newton's method stopped after " << solved.newton.iterations << " iterations ("
         << newton::name(solved.newton.outcome) << "), gradient norm " << solved.newton.gradient_norm
         << ", started from " << solved.newton.first_gradient_norm;
    solved.failure = text.str();
    return solved;
  }
  solved.v = linalg::Vector(previous.shared_layout());
  solved.acceleration = solved.v;
  if (inertia) {
    stepping::update_velocity(coefficients, target.dt, solved.u, u_bar, solved.v);
    // v_bar = (u~ - u_bar) / B, and the acceleration belongs to v as v belongs to u.
    solved.acceleration.copy_from(u_bar);
    solved.acceleration.add(-1, u_tilde);
    solved.acceleration.scale(1 / B);
    solved.acceleration.add(1, solved.v);
    solved.acceleration.scale(1 / B);
  }
  solved.done = true;
  return solved;
}

template <int dim>
stepping::StepCoefficients
ElastodynamicsSolver<dim>::Implementation::coefficients_for(const stepping::History& past, int parts) const {
  if (options.dynamics != Dynamics::dynamic) return {};
  return parts > 1 ? stepping::bdf_coefficients(1) : past.next_coefficients();
}

template <int dim>
typename ElastodynamicsSolver<dim>::Implementation::Target
ElastodynamicsSolver<dim>::Implementation::target_of(int part, int parts) const {
  const double share = static_cast<double>(part + 1) / parts;
  if (options.dynamics == Dynamics::statics) return {1.0, 0.0, share};
  return {options.t0 + (static_cast<double>(step) + share) * options.dt, options.dt / parts, 1.0};
}

template <int dim>
bool ElastodynamicsSolver<dim>::Implementation::attempt(int parts, std::vector<Solved>& states,
                                                        std::vector<stepping::StepRecord>& records,
                                                        std::vector<Ledger>& ledgers, StepReport& report) {
  // Sub-steps run on a copy of the past, so that a failure half-way leaves no trace.
  stepping::History sub_steps(history.max_order());
  const stepping::History* past = &history;
  if (parts > 1) {
    sub_steps.push(history.newest().id, history.newest().u, history.newest().v);
    past = &sub_steps;
  }
  for (int part = 0; part < parts; ++part) {
    const Target target = target_of(part, parts);
    const stepping::StepCoefficients coefficients = coefficients_for(*past, parts);
    Solved solved = solve(*past, target, coefficients);
    report.newton_iterations += solved.newton.iterations;
    report.linear_iterations += solved.newton.linear_iterations;
    report.gradient_norm = solved.newton.gradient_norm;
    if (!solved.done) {
      report.failure = solved.failure;
      return false;
    }
    stepping::StepRecord record =
        past->next_record(past->newest().id + 1, step + 1, target.time, target.dt, coefficients);
    record.completes_nominal = part + 1 == parts;
    const StepForLedger<dim> balance{&solved.u, &solved.v, &past->newest().u, &past->newest().v,
                                     options.dynamics == Dynamics::dynamic ? &solved.acceleration : nullptr};
    ledgers.push_back(close_step(problem, ledgers.empty() ? ledger : ledgers.back(), balance));
    if (parts > 1) sub_steps.push(record.id, solved.u, solved.v);
    records.push_back(record);
    states.push_back(std::move(solved));
  }
  return true;
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
                                      const Ledger& ledger) {
  Implementation& self = *implementation_;
  self.step = step;
  self.ledger = ledger;
  self.history.clear();
  for (const stepping::State& state : states) self.history.push(state.id, state.u, state.v);
}

template <int dim>
StepReport ElastodynamicsSolver<dim>::advance(const std::function<void(const AcceptedState&)>& on_state) {
  Implementation& self = *implementation_;
  StepReport report;
  std::vector<typename Implementation::Solved> states;
  std::vector<stepping::StepRecord> records;
  std::vector<Ledger> ledgers;
  for (int retry = 0;; ++retry) {
    states.clear();
    records.clear();
    ledgers.clear();
    report.sub_steps = 1 << retry;
    if (self.attempt(report.sub_steps, states, records, ledgers, report)) break;
    if (retry == self.options.max_retries) return report;
    ++self.totals.retries;
  }
  report.accepted = true;
  report.failure.clear();
  for (std::size_t i = 0; i < states.size(); ++i) {
    // States at the distance of sub-steps are no use to a step of full length: the order ramp starts anew.
    if (states.size() > 1) self.history.clear();
    self.history.push(records[i].id, states[i].u, states[i].v);
    self.ledger = ledgers[i];
    if (i + 1 == states.size()) ++self.step;
    on_state({records[i], &states[i].u, &states[i].v});
  }
  return report;
}

template <int dim>
GlobalIndex ElastodynamicsSolver<dim>::step() const {
  return implementation_->step;
}
template <int dim>
double ElastodynamicsSolver<dim>::time() const {
  const auto& self = *implementation_;
  if (self.options.dynamics == Dynamics::statics) return 1;
  return self.options.t0 + static_cast<double>(self.step) * self.options.dt;
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
  return implementation_->totals;
}
template <int dim>
const ElastodynamicsProblem<dim>& ElastodynamicsSolver<dim>::problem() const {
  return implementation_->problem;
}

template <int dim>
std::string ElastodynamicsSolver<dim>::check_state(const linalg::Vector& u) const {
  const auto& problem = implementation_->problem;
  double energy = 0;
  for (const auto& potential : problem.elastic) energy += potential->value(u.local());
  if (std::isfinite(problem.space->comm().sum(energy))) return "";
  const WorstCell worst = worst_cell(*problem.space, *problem.geometry, u);
  std::ostringstream text;
  text << "element " << worst.source << " of body '"
       << problem.space->mesh().body_names[static_cast<std::size_t>(worst.body)] << "' near ("
       << worst.position[0] << ", " << worst.position[1] << ", " << worst.position[2]
       << ") is inverted (volume ratio " << worst.ratio << ")";
  return text.str();
}

template <int dim>
std::string ElastodynamicsSolver<dim>::linear_solver_description() const {
  return implementation_->objective.linear_solver().description();
}
template <int dim>
bool ElastodynamicsSolver<dim>::repeatable() const {
  return implementation_->objective.linear_solver().repeatable();
}

template class ElastodynamicsSolver<2>;
template class ElastodynamicsSolver<3>;

} // namespace recoil::solvers
