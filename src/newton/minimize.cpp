#include "recoil/newton/minimize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "newton/forcing.hpp"
#include "newton/line_search.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/base/timer.hpp"

namespace recoil::newton {
namespace {

// The length of a step along the negative gradient, compared with the configuration.
constexpr double steepest_length = 1e-3;
// The step rule is expected to hold after the coming solve when extrapolation comes this close to it.
constexpr double step_rule_margin = 10;
// A step with the matrix of the iterate before pays where Newton's step, or the one before it, has left at
// most this share of the gradient; it has to leave at most the second share.
constexpr double chord_share = 0.1, largest_chord_share = 0.5;
// They continue to this share of the stopping norm, as the last of Newton's steps would have gone far below
// it. Their linear solves leave this share of that, or of what the step before has left.
constexpr double chord_target = 1e-2, chord_residual = 0.1;
// The same where linear iterations cost much: digits beyond what a step gains are lost with the next
// gradient.
constexpr double costly_chord_residual = 0.3;
// No minimum lies that many times the configuration's size away.
constexpr double unbounded_move = 1e6;

void log_start(const NewtonResult& result, double value) {
  log_debug("newton 0", {{"gradient", result.first_gradient_norm}, {"value", value}});
}

void log_iteration(const IterationReport& report) {
  log_debug("newton " + std::to_string(report.iteration), {{"direction", name(report.direction)},
                                                           {"gradient", report.gradient_norm},
                                                           {"value", report.value},
                                                           {"move", report.direction_norm},
                                                           {"max_step", report.max_step},
                                                           {"step", report.step},
                                                           {"tolerance", report.linear_tolerance},
                                                           {"cg", report.linear_iterations},
                                                           {"chord_steps", report.chord_steps}});
}

std::optional<NewtonOutcome> unless_finite(bool finite) {
  return finite ? std::nullopt : std::optional(NewtonOutcome::not_finite);
}

// Of linear solvers, which take a matrix of reference while a Hessian is assembled.
double set_up_seconds() { return phase_seconds()[static_cast<std::size_t>(Phase::preconditioner)]; }

class Minimizer {
public:
  Minimizer(Objective& objective, const Manifold& manifold, linalg::Vector& x, const NewtonOptions& options)
      : objective_(objective), manifold_(manifold), options_(options), caller_x_(x),
        evaluator_(objective, result_), line_search_(evaluator_, manifold, options),
        forcing_(options.forcing) {
    current_.x = x;
    current_.x.update_ghosts();
    current_.g = linalg::Vector(manifold.tangent_layout(x));
    trial_ = current_;
    d_ = minus_g_ = current_.g;
  }

  NewtonResult run() {
    result_.outcome = iterate();
    caller_x_.copy_from(current_.x);
    result_.gradient_norm = current_.gradient_norm;
    result_.value = current_.value;
    result_.distance = distance_to_minimum();
    return result_;
  }

private:
  NewtonOutcome iterate();
  std::optional<NewtonOutcome> advance();
  std::optional<NewtonOutcome> accept(const SearchResult& found);
  std::optional<NewtonOutcome> follow_chords();
  bool find_chord(double tolerance);
  bool take_chord(double tolerance);
  void postpone_exact();
  struct Attempt {
    bool over = false; // `outcome` is that of the iteration
    std::optional<NewtonOutcome> outcome;
    bool indefinite = false; // the matrix was
  };
  bool is_interrupted() const { return options_.interrupted && options_.interrupted(); }
  Attempt attempt_exact();
  Attempt attempt(Direction direction, double shift = 0);
  bool find_direction(Direction direction, double shift, bool& indefinite);
  bool complete_direction();
  bool solve(double tolerance, bool& indefinite);
  bool is_stalled(double step);
  bool evaluate_all(Point& point);
  // Judged by the last direction; one along which the step was extended is too short.
  double distance_to_minimum() const { return std::max(1.0, report_.step) * judged_.norm; }
  bool step_rule_holds() const;
  bool step_rule_expected() const;
  // The bound, where the terms of the gradient are so large that it says that they are in balance.
  double in_balance(double bound) const {
    return std::min(bound, options_.balance_tolerance * current_.largest_term_norm);
  }
  double stopping_norm() const {
    return std::max(in_balance(options_.gradient_tolerance),
                    options_.relative_gradient_tolerance * result_.first_gradient_norm);
  }
  bool gradient_is_small() const {
    return current_.gradient_norm < stopping_norm() || current_.gradient_norm == 0;
  }
  bool gradient_will_do() const {
    return gradient_is_small() || current_.gradient_norm < options_.stuck_factor * stopping_norm();
  }

  Objective& objective_;
  const Manifold& manifold_;
  const NewtonOptions& options_;
  linalg::Vector& caller_x_;
  NewtonResult result_;
  Evaluator evaluator_;
  LineSearch line_search_;
  ForcingSequence forcing_;
  Point current_, trial_;
  linalg::Vector d_, minus_g_;
  IterationReport report_;
  double slope_ = 0;
  std::vector<double> log_steps_; // logarithms of all steps
  double log_step_sum_ = 0;       // over the window
  int projected_run_ = 0, projected_run_left_ = 0;
  double last_exact_shift_ = 0; // that gave an acceptable step
  int steepest_in_a_row_ = 0;
  bool any_solve_ = false; // in this iteration, gave a direction
  double last_norm_ = 0;   // of the gradient before the last accepted step; 0 before the first
  double last_move_ = 0;   // largest entry of that step
  struct {
    double norm = 0; // |d|_inf
    double linear_tolerance = 1;
  } judged_;             // the last direction, of a step or of a chord step
  bool was_cut_ = false; // that step, along the direction of the exact Hessian
};

NewtonOutcome Minimizer::iterate() {
  if (is_interrupted()) return NewtonOutcome::interrupted;
  if (!evaluator_.evaluate_value(current_)) return NewtonOutcome::not_finite;
  if (std::isinf(current_.value)) return NewtonOutcome::infeasible_start;
  const bool finite = evaluator_.evaluate_gradient(current_);
  result_.first_gradient_norm = current_.gradient_norm;
  if (!finite) return NewtonOutcome::not_finite;
  if (log_shows(LogLevel::debug)) log_start(result_, current_.value);
  if (current_.gradient_norm < in_balance(options_.first_gradient_tolerance) || current_.gradient_norm == 0)
    return NewtonOutcome::converged_gradient;

  while (result_.iterations < options_.max_iterations)
    if (const auto outcome = advance()) return *outcome;
  return gradient_will_do() ? NewtonOutcome::converged_gradient : NewtonOutcome::max_iterations;
}

// One iteration; an outcome ends the minimisation.
std::optional<NewtonOutcome> Minimizer::advance() {
  report_ = IterationReport{};
  report_.iteration = result_.iterations + 1;
  const double most = step_rule_expected() ? options_.step_rule->accuracy : 1;
  report_.linear_tolerance =
      forcing_.next(current_.gradient_norm, stopping_norm(), most, objective_.share_of_last_residual());
  minus_g_.copy_from(current_.g);
  minus_g_.scale(-1);
  any_solve_ = false;

  // One after the other, until one has an acceptable step.
  Attempt tried = attempt_exact();
  if (!tried.over) tried = attempt(Direction::projected);
  const ShiftOptions& shifts = options_.shifts;
  double shift = 0, next = shifts.first;
  for (int k = 0; k < shifts.max_count && !tried.over; ++k, shift = next, next *= shifts.growth)
    tried = attempt(Direction::shifted, next - shift);
  if (!tried.over && steepest_in_a_row_ < options_.max_steepest_in_a_row)
    tried = attempt(Direction::steepest_descent);
  if (tried.over) return tried.outcome;
  // The rule before the first iteration is stricter than the ordinary one, which may hold already.
  if (gradient_will_do()) return NewtonOutcome::converged_gradient;
  return any_solve_ ? NewtonOutcome::line_search_failed : NewtonOutcome::linear_solve_failed;
}

// The exact Hessian and, where that is indefinite, small shifts of it: close to a saddle they reach further
// along the directions of negative curvature than a projected one, which is stiff there.
Minimizer::Attempt Minimizer::attempt_exact() {
  if (was_cut_) return {};
  if (projected_run_left_ > 0) {
    --projected_run_left_;
    return {};
  }
  const ShiftOptions& shifts = options_.exact_shifts;
  const double largest = shifts.first * std::pow(shifts.growth, shifts.max_count - 0.5);
  Attempt tried = attempt(Direction::newton);
  double shift = 0, next = std::max(shifts.first, last_exact_shift_ / shifts.growth);
  for (; tried.indefinite && next < largest && objective_.tries_exact_shifts();
       shift = next, next *= shifts.growth) {
    tried = attempt(Direction::shifted_newton, next - shift);
    if (tried.over) last_exact_shift_ = next;
  }
  if (!tried.over) postpone_exact();
  return tried;
}

// Finds a direction, further shifted by `shift`, and a step along it.
Minimizer::Attempt Minimizer::attempt(Direction direction, double shift) {
  report_.direction = direction;
  Attempt tried;
  if (is_interrupted()) {
    tried.over = true;
    tried.outcome = NewtonOutcome::interrupted;
    return tried;
  }
  if (!find_direction(direction, shift, tried.indefinite)) return tried;
  const Stopwatch watch;
  const PhaseScope phase(Phase::line_search);
  const SearchResult found = line_search_.search(current_, d_, slope_, direction, trial_);
  result_.line_search_seconds += watch.seconds();
  tried.over = found.outcome != SearchOutcome::failed;
  if (found.outcome == SearchOutcome::accepted)
    tried.outcome = accept(found);
  else if (found.outcome == SearchOutcome::round_off)
    tried.outcome = gradient_is_small() ? NewtonOutcome::converged_gradient : NewtonOutcome::round_off;
  else if (found.outcome == SearchOutcome::not_finite)
    tried.outcome = NewtonOutcome::not_finite;
  return tried;
}

// The exact Hessian has failed, or been of little use: it is likely to fail again where this one was
// assembled.
void Minimizer::postpone_exact() {
  projected_run_ = std::min(std::max(1, 2 * projected_run_), objective_.longest_projected_run());
  projected_run_left_ = projected_run_;
}

// Sets d_, slope_ and what the report tells of them; false where there is no descent, `indefinite` where the
// solver has said why.
bool Minimizer::find_direction(Direction direction, double shift, bool& indefinite) {
  if (direction == Direction::steepest_descent) {
    const double length = std::max(last_move_, steepest_length * configuration_size(current_.x, options_));
    d_.copy_from(minus_g_);
    d_.scale((length > 0 ? length : steepest_length) / minus_g_.norm_infinity());
  } else {
    const Stopwatch watch;
    const double set_up_before = set_up_seconds();
    const PhaseScope phase(Phase::assembly);
    if (shift > 0) {
      objective_.shift_hessian(shift);
    } else {
      objective_.assemble_hessian(current_.x, direction == Direction::newton ? Projection::none
                                                                             : Projection::per_element);
      ++result_.assemblies;
    }
    const double set_up = set_up_seconds() - set_up_before;
    result_.assembly_seconds += watch.seconds() - set_up;
    result_.linear_solve_seconds += set_up;
    if (!solve(report_.linear_tolerance, indefinite)) return false;
  }
  const bool descends = complete_direction();
  report_.slope = slope_;
  report_.direction_norm = d_.norm_infinity();
  judged_ = {report_.direction_norm, report_.linear_tolerance};
  return descends;
}

// Completes d_ and sets its slope; false where that is no descent. A direction with infinite or undefined
// entries gives no finite slope or length.
bool Minimizer::complete_direction() {
  d_.update_ghosts();
  slope_ = current_.g.dot(d_);
  return std::isfinite(slope_) && slope_ < 0 && std::isfinite(d_.norm());
}

bool Minimizer::solve(double tolerance, bool& indefinite) {
  const Stopwatch watch;
  const linalg::LinearResult solved = objective_.solve(minus_g_, d_, tolerance);
  result_.linear_solve_seconds += watch.seconds();
  ++result_.linear_solves;
  result_.linear_iterations += solved.iterations;
  report_.linear_iterations += solved.iterations;
  indefinite = solved.outcome == linalg::LinearOutcome::indefinite;
  const bool usable = solved.outcome == linalg::LinearOutcome::converged ||
                      solved.outcome == linalg::LinearOutcome::not_converged;
  any_solve_ = any_solve_ || usable;
  return usable;
}

std::optional<NewtonOutcome> Minimizer::accept(const SearchResult& found) {
  last_norm_ = current_.gradient_norm;
  was_cut_ = report_.direction == Direction::newton && found.backtracks > 0;
  last_move_ = found.step * report_.direction_norm;
  std::swap(current_, trial_);
  ++result_.iterations;
  if (was_cut_ && found.step < objective_.useful_step())
    postpone_exact();
  else if (report_.direction == Direction::newton)
    projected_run_ = 0;
  result_.projected += report_.direction == Direction::projected;
  result_.shifted +=
      report_.direction == Direction::shifted || report_.direction == Direction::shifted_newton;
  result_.steepest += report_.direction == Direction::steepest_descent;
  steepest_in_a_row_ = report_.direction == Direction::steepest_descent ? steepest_in_a_row_ + 1 : 0;
  result_.smallest_step = std::min(result_.smallest_step, found.step);

  const Stopwatch watch;
  const bool changed = objective_.accepted(current_.x);
  std::optional<NewtonOutcome> end = unless_finite(
      changed ? evaluate_all(current_) : found.has_gradient || evaluator_.evaluate_gradient(current_));
  result_.gradient_seconds += watch.seconds();
  if (!end && !changed && found.step == 1 && !found.by_gradient) end = follow_chords();

  report_.value = current_.value;
  report_.gradient_norm = current_.gradient_norm;
  report_.max_step = found.max_step;
  report_.step = found.step;
  report_.backtracks = found.backtracks;
  report_.by_gradient = found.by_gradient;
  if (options_.on_iteration) options_.on_iteration(report_);
  if (log_shows(LogLevel::debug)) log_iteration(report_);

  if (end) return end;
  if (gradient_is_small()) return NewtonOutcome::converged_gradient;
  if (step_rule_holds()) return NewtonOutcome::converged_step;
  if (options_.length_scale > 0 && last_move_ > unbounded_move * options_.length_scale)
    return NewtonOutcome::unbounded;
  if (is_stalled(found.step))
    return gradient_will_do() ? NewtonOutcome::converged_gradient : NewtonOutcome::stalled;
  return std::nullopt;
}

// Steps with the matrix of the accepted step's start: solves and gradients without Hessians. An outcome ends
// the minimisation; that of a signal does so even where the iterate would do, which the remaining steps make
// another one in a run without the signal.
std::optional<NewtonOutcome> Minimizer::follow_chords() {
  if (report_.direction != Direction::newton && report_.direction != Direction::projected)
    return std::nullopt;
  double share = current_.gradient_norm / last_norm_;
  const double costly_share = objective_.share_of_last_residual();
  const double target = std::max(chord_target, costly_share) * stopping_norm();
  const double residual = costly_share > 0 ? costly_chord_residual : chord_residual;
  for (int k = 0; k < options_.most_chord_steps && share <= chord_share; ++k) {
    if (current_.gradient_norm <= target || step_rule_holds()) break;
    if (is_interrupted()) return NewtonOutcome::interrupted;
    const double tolerance = std::clamp(residual * std::max(share, target / current_.gradient_norm),
                                        options_.forcing.smallest, options_.forcing.largest);
    if (!find_chord(tolerance)) break;
    const Stopwatch watch;
    const bool taken = take_chord(tolerance);
    result_.line_search_seconds += watch.seconds();
    // What the objective remembers is to be that of the iterate.
    if (!taken) return unless_finite(evaluate_all(current_));
    share = trial_.gradient_norm > 0 ? current_.gradient_norm / trial_.gradient_norm : 0;
    ++result_.chord_steps;
    ++report_.chord_steps;
    if (objective_.accepted(current_.x)) return unless_finite(evaluate_all(current_));
  }
  return std::nullopt;
}

// Sets d_ by the matrix at hand.
bool Minimizer::find_chord(double tolerance) {
  minus_g_.copy_from(current_.g);
  minus_g_.scale(-1);
  bool indefinite = false;
  return solve(tolerance, indefinite) && complete_direction();
}

// The full step along d_ or none.
bool Minimizer::take_chord(double tolerance) {
  const double resolution =
      options_.line_search.resolution * objective_.value_resolution(current_.x, current_.value);
  if (!(objective_.max_step(current_.x, d_) >= 1)) return false;
  manifold_.retract(current_.x, d_, 1, trial_.x);
  trial_.x.update_ghosts();
  if (!evaluate_all(trial_) || trial_.value > current_.value + resolution ||
      trial_.gradient_norm > largest_chord_share * current_.gradient_norm)
    return false;
  std::swap(current_, trial_);
  judged_ = {d_.norm_infinity(), tolerance};
  return true;
}

// Blocked ways: smaller time steps help more than hundreds of such iterations.
bool Minimizer::is_stalled(double step) {
  log_steps_.push_back(std::log(std::min(1.0, step)));
  log_step_sum_ += log_steps_.back();
  const std::size_t window = options_.stall.window;
  if (log_steps_.size() < window) return false;
  if (log_steps_.size() > window) log_step_sum_ -= log_steps_[log_steps_.size() - window - 1];
  return log_step_sum_ < options_.stall.window * std::log(options_.stall.share);
}

bool Minimizer::evaluate_all(Point& point) {
  return evaluator_.evaluate_value(point) && std::isfinite(point.value) &&
         evaluator_.evaluate_gradient(point);
}

// Only accurate Newton directions tell how far the minimum is.
bool Minimizer::step_rule_holds() const {
  if (!options_.step_rule || judged_.linear_tolerance > options_.step_rule->accuracy) return false;
  if (report_.direction != Direction::newton && report_.direction != Direction::projected) return false;
  const StepRule& rule = *options_.step_rule;
  return distance_to_minimum() <= rule.tolerance * rule.length * rule.dt;
}

bool Minimizer::step_rule_expected() const {
  if (!options_.step_rule || last_norm_ == 0) return false;
  const StepRule& rule = *options_.step_rule;
  const double expected = distance_to_minimum() * std::min(1.0, current_.gradient_norm / last_norm_);
  return expected <= step_rule_margin * rule.tolerance * rule.length * rule.dt;
}

} // namespace

std::string_view name(NewtonOutcome outcome) {
  using enum NewtonOutcome;
  using Row = std::pair<NewtonOutcome, std::string_view>;
  constexpr std::array names{Row{converged_gradient, "converged_gradient"},
                             Row{converged_step, "converged_step"},
                             Row{round_off, "round_off"},
                             Row{max_iterations, "max_iterations"},
                             Row{unbounded, "unbounded"},
                             Row{stalled, "stalled"},
                             Row{line_search_failed, "line_search_failed"},
                             Row{linear_solve_failed, "linear_solve_failed"},
                             Row{infeasible_start, "infeasible_start"},
                             Row{interrupted, "interrupted"},
                             Row{not_finite, "not_finite"}};
  return std::ranges::find(names, outcome, &Row::first)->second;
}

std::string_view name(Direction direction) {
  using enum Direction;
  using Row = std::pair<Direction, std::string_view>;
  constexpr std::array names{Row{newton, "newton"}, Row{shifted_newton, "shifted_newton"},
                             Row{projected, "projected"}, Row{shifted, "shifted"},
                             Row{steepest_descent, "steepest_descent"}};
  return std::ranges::find(names, direction, &Row::first)->second;
}

NewtonResult minimize(Objective& objective, const Manifold& manifold, linalg::Vector& x,
                      const NewtonOptions& options) {
  return Minimizer(objective, manifold, x, options).run();
}

} // namespace recoil::newton
