#include "recoil/inverse/reduced_objective.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/phases.hpp"

namespace recoil::inverse {

ObjectiveValue evaluate_terms(const ForwardProblem& problem) {
  ObjectiveValue result;
  result.terms = problem.terms();
  const std::vector<std::string> places = problem.places_of_terms();
  for (std::size_t k = 0; k < result.terms.size(); ++k) {
    result.objective += result.terms[k];
    if (result.failure.empty() && !std::isfinite(result.terms[k]))
      result.failure = fmt::format(
          "{}: the objective is not finite: its values are too large for double precision", places[k]);
  }
  if (result.failure.empty() && !std::isfinite(result.objective))
    result.failure = "the sum of the objectives is not finite";
  return result;
}

static bool is_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

std::string find_not_finite(const ForwardModel& model, const ParameterValues& gradient) {
  std::string found;
  for (std::size_t k = 0; k < gradient.size(); ++k)
    if (model.comm().any(!is_finite(gradient[k])))
      found = fmt::format("the derivative by '{}' is not finite: the objective is too large for double "
                          "precision, or not differentiable here",
                          model.parameter_name(k));
  return found;
}

ProblemSweep::ProblemSweep(ForwardProblem& problem, const std::vector<stepping::StepRecord>& records,
                           StateStore& store, int history, const SweepSettings& settings)
    : ProblemSweep(problem, problem.adjoint(std::ssize(records)), records, store, history, settings) {}

ProblemSweep::ProblemSweep(ForwardProblem& problem, std::unique_ptr<AdjointProblem> adjoint,
                           const std::vector<stepping::StepRecord>& records, StateStore& store, int history,
                           const SweepSettings& settings)
    : states_(records, store, problem.solver(), history, settings.state_budget, settings.stop_if_interrupted),
      adjoint_(std::move(adjoint)),
      sweep_(records, states_, adjoint_->objective(), adjoint_->step(), {settings.tolerance}) {}

/// The last run and what is known of it.
struct ReducedObjective::Run {
  ParameterValues values;
  KnownRun known;                          ///< that the solves of the problem start near
  std::unique_ptr<ForwardProblem> problem; ///< null once gradient() has swept it
  StatesInMemory states{1};
  bool has_states = false;
  std::vector<stepping::StepRecord> records;
  ObjectiveValue value;
  std::vector<double> residuals; ///< of a least-squares problem
  std::optional<ObjectiveGradient> gradient;
};

std::optional<std::span<const double>> KnownRun::at(double time) const {
  if (u.empty()) return {};
  const double tolerance = 1e-9 * std::max(std::abs(u.begin()->first), std::abs(u.rbegin()->first));
  const auto found = u.lower_bound(time - tolerance);
  if (found == u.end() || found->first > time + tolerance) return {};
  return found->second;
}

ReducedObjective::ReducedObjective(const ForwardModel& model, Options options)
    : model_(model), options_(std::move(options)) {}

ReducedObjective::ReducedObjective(ReducedObjective&&) noexcept = default;
ReducedObjective::~ReducedObjective() = default;

bool ReducedObjective::is_at(const ParameterValues& q) const {
  return run_ && model_.comm().all(run_->values == q);
}

ObjectiveValue ReducedObjective::value(const ParameterValues& q) {
  if (!is_at(q)) run(q, options_.store_every);
  return run_->value;
}

ObjectiveGradient ReducedObjective::gradient(const ParameterValues& q) {
  if (is_at(q) && run_->gradient) return *run_->gradient;
  run_with_states(q);
  run_->gradient.emplace().failure = run_->value.failure;
  if (run_->value.failure.empty()) try {
      run_->gradient = sweep_back(run_->problem->adjoint(std::ssize(run_->records)));
    } catch (const InputError& error) {
      run_->gradient->failure = error.what(); // a term that has no derivative here
    }
  // Products with the Jacobian at q may follow.
  if (run_->problem && run_->problem->is_least_squares()) return *run_->gradient;
  run_->problem.reset();
  run_->states = StatesInMemory(1);
  run_->has_states = false;
  return *run_->gradient;
}

std::vector<double> ReducedObjective::residuals(const ParameterValues& q) {
  run_with_states(q);
  return run_->residuals;
}

ResidualChanges ReducedObjective::jacobian(const ParameterValues& q,
                                           const std::vector<ParameterValues>& directions) {
  run_with_states(q);
  ResidualChanges result;
  result.failure = run_->value.failure;
  if (result.failure.empty()) try {
      result = sweep_forward(*run_->problem->tangent(directions, std::ssize(run_->records)));
    } catch (const InputError& error) {
      result.failure = error.what(); // a parameter that has no tangent
    }
  return result;
}

ObjectiveGradient ReducedObjective::jacobian_transposed(const ParameterValues& q, std::span<const double> y) {
  run_with_states(q);
  ObjectiveGradient result;
  result.failure = run_->value.failure;
  if (result.failure.empty()) try {
      result = sweep_back(run_->problem->residual_adjoint(y, std::ssize(run_->records)));
    } catch (const InputError& error) {
      result.failure = error.what();
    }
  return result;
}

std::pair<ForwardProblem*, KnownRun> ReducedObjective::known_run() const {
  if (!run_ || !run_->has_states || !run_->value.failure.empty()) return {};
  KnownRun known;
  for (const stepping::StepRecord& record : run_->records) {
    if (!run_->states.has(record.id)) return {};
    const auto u = run_->states.at(record.id).u.local();
    known.u[record.time].assign(u.begin(), u.end());
  }
  return {run_->problem.get(), std::move(known)};
}

/// Runs forward with `q`, and keeps the states after every `store_every` steps, if any.
void ReducedObjective::run(const ParameterValues& q, int store_every) {
  run_.reset(); // before the memory of the next one is needed
  run_ = std::make_unique<Run>();
  run_->values = q;
  run_->has_states = store_every > 0;
  run_->states = StatesInMemory(std::max(store_every, 1));
  try {
    run_->problem = model_.at(q);
    if (run_->has_states && run_->problem->is_least_squares()) run_->problem->keep_residuals();
    if (find_known_) {
      run_->known = find_known_(*run_->problem);
      run_->problem->solver().start_near([&known = run_->known](double time) { return known.at(time); });
    }
    take_steps();
  } catch (const InputError& error) {
    run_->value.failure = error.what();
  } catch (...) {
    run_.reset();
    throw;
  }
  if (!run_->has_states) run_->problem.reset();
}

/// Sees to it that the states at `q` are there, if there are any.
void ReducedObjective::run_with_states(const ParameterValues& q) {
  if (!is_at(q) || !run_->has_states) run(q, std::max(options_.store_every, 1));
}

void ReducedObjective::take_steps() {
  const PhaseScope phase(Phase::other);
  ForwardProblem& problem = *run_->problem;
  stepping::Solver& steps = problem.solver();
  const auto see = [&](const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
    run_->records.push_back(record);
    const std::vector<double>& internal = steps.history().newest().internal;
    if (run_->has_states) run_->states.see(record, u, v, internal);
    problem.observe(record, u, v, internal);
  };
  stepping::StepRecord start;
  start.time = steps.start_time();
  see(start, steps.history().newest().u, steps.history().newest().v);
  if (run_->has_states) run_->states.see_end_of_step(steps);
  while (steps.step() < problem.num_steps()) {
    const stepping::StepOutcome outcome =
        steps.advance(see, like_ != nullptr ? num_sub_steps(*like_, steps.step() + 1) : 1);
    options_.sweep.stop_if_interrupted();
    if (!outcome.accepted) {
      run_->value.failure = fmt::format("step {} fails: {}", steps.step() + 1, outcome.failure);
      run_->value.effort = steps.effort();
      return;
    }
    if (run_->has_states) run_->states.see_end_of_step(steps);
  }
  run_->value = evaluate_terms(problem);
  run_->value.effort = steps.effort();
  if (run_->has_states && problem.is_least_squares()) run_->residuals = problem.residuals();
  run_->value.same_steps = like_ == nullptr || std::ranges::equal(run_->records, *like_);
}

ObjectiveGradient ReducedObjective::sweep_back(std::unique_ptr<AdjointProblem> adjoint) {
  const PhaseScope phase(Phase::other);
  ObjectiveGradient result;
  ProblemSweep at(*run_->problem, std::move(adjoint), run_->records, run_->states, model_.history(),
                  options_.sweep);
  while (at.sweep().next() >= 0) {
    options_.sweep.stop_if_interrupted();
    result.failure = at.sweep().advance();
    if (!result.failure.empty()) return result;
  }
  const adjoint::SweepTotals& totals = at.sweep().totals();
  result.linear_iterations = totals.linear_iterations;
  result.largest_relative_residual = totals.largest_relative_residual;
  result.objective_correction = totals.objective_correction;
  result.values = at.adjoint().gradient();
  result.failure = find_not_finite(model_, result.values);
  return result;
}

ResidualChanges ReducedObjective::sweep_forward(TangentProblem& tangent) {
  ResidualChanges result;
  adjoint::TangentSweep sweep(tangent.step(), tangent.residuals(), model_.history(),
                              {options_.sweep.tolerance});
  StoredStates states(run_->records, run_->states, run_->problem->solver(), model_.history(),
                      options_.sweep.state_budget, options_.sweep.stop_if_interrupted);
  states.visit([](const stepping::StepRecord&) { return true; },
               [&](const stepping::StepRecord& record, const stepping::State& state) {
                 options_.sweep.stop_if_interrupted();
                 if (result.failure.empty())
                   result.failure = sweep.advance(record, state.u, state.v, state.internal);
               });
  result.linear_iterations = sweep.totals().linear_iterations;
  result.largest_relative_residual = sweep.totals().largest_relative_residual;
  for (std::size_t k = 0; result.failure.empty() && k < sweep.num_directions(); ++k) {
    result.columns.push_back(tangent.change_of_residuals(k));
    if (model_.comm().any(!is_finite(result.columns.back())))
      result.failure =
          fmt::format("the change of the residuals along direction {} is not finite: they are too "
                      "large for double precision, or not differentiable here",
                      k + 1);
  }
  return result;
}

} // namespace recoil::inverse
