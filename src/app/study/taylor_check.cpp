#include "app/study/taylor_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/log.hpp"

namespace recoil::app {

namespace {

/// What central differences of converged runs can be asked for.
constexpr double good_error = 1e-6;
/// A remainder below this share of the objective is rounding.
constexpr double rounding = 1e-14;

struct Sample {
  double value = 0;
  std::string problem; ///< why it does not count
};

Sample sample(const ExperimentRuns& experiments, const Direction& direction, double factor) {
  Sample sum;
  for (const auto& experiment : experiments) {
    const ForwardResult result = experiment->run_beside(direction, factor);
    if (!result.failure.empty()) sum.problem = result.failure;
    if (!result.same_steps) sum.problem = "a run with changed parameters took other (sub-)steps";
    sum.value += result.objective;
  }
  return sum;
}

/// What runs at a distance h of the start values say.
struct Compared {
  double difference = 0; ///< quotient, of second order
  double remainder = 0;  ///< of a linear model with the derivative that is checked
  std::string problem;   ///< why there is none
};

/// Differences to both sides, or to one where the other has no value, as at a limit of a parameter.
Compared compare(const ExperimentRuns& experiments, const Direction& direction, double h, double objective,
                 double derivative) {
  const Sample plus = sample(experiments, direction, h), minus = sample(experiments, direction, -h);
  const auto remainder = [&](const Sample& at, double step) {
    return at.value - objective - step * derivative;
  };
  if (plus.problem.empty() && minus.problem.empty())
    // Of both sides, so that the term of third order, which is odd, hardly bends the slope.
    return {(plus.value - minus.value) / (2 * h),
            std::hypot(remainder(plus, h), remainder(minus, -h)) / std::sqrt(2.0), ""};
  if (!plus.problem.empty() && !minus.problem.empty()) return {0, 0, plus.problem};
  const Sample& near = plus.problem.empty() ? plus : minus;
  const double step = plus.problem.empty() ? h : -h;
  const Sample far = sample(experiments, direction, 2 * step);
  return {(4 * near.value - far.value - 3 * objective) / (2 * step), std::abs(remainder(near, step)),
          far.problem};
}

/// Slope of the remainders over the steps where it is closest to 2: larger steps see higher orders, smaller
/// ones rounding and the residual of Newton's method. NaN where all is rounding.
double slope_of(const std::vector<double>& steps, const std::vector<double>& remainders, double objective) {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (!(remainders[i] > rounding * std::abs(objective)) || !(remainders[i - 1] > 0)) continue;
    const double slope = std::log(remainders[i - 1] / remainders[i]) / std::log(steps[i - 1] / steps[i]);
    if (!(std::abs(slope - 2) >= std::abs(best - 2))) best = slope;
  }
  return best;
}

/// Neither runs nor derivative change the objective by more than its rounding, at any step.
bool is_lost(const DirectionCheck& check, double objective) {
  const double noise = 100 * rounding * std::abs(objective);
  for (std::size_t i = 0; i < check.steps.size(); ++i)
    if (!(check.remainders[i] <= noise) || !(std::abs(check.derivative) * check.steps[i] <= noise))
      return false;
  return !check.steps.empty();
}

void judge(DirectionCheck& check, double objective, const std::string& problem) {
  const bool linear = std::isnan(check.slope), lost = is_lost(check, objective);
  check.agrees = lost || (check.relative_error <= good_error && (linear || std::abs(check.slope - 2) <= 0.1));
  if (lost)
    check.verdict = "agrees (all changes of the objective are lost in rounding)";
  else if (check.agrees)
    check.verdict = linear ? "agrees (the remainder is lost in rounding)" : "agrees";
  else if (!problem.empty())
    check.verdict = "not comparable: " + problem;
  else if (check.relative_error <= good_error)
    check.verdict =
        fmt::format("differences agree, but the remainder falls with slope {:.2f} instead of 2", check.slope);
  else
    check.verdict =
        fmt::format("differs by {:.1e}: tighten solver/nonlinear/grad_norm_tol, or the objective is "
                    "not smooth here",
                    check.relative_error);
}

} // namespace

std::vector<DirectionCheck> check_gradient(const Study& study, const ExperimentRuns& experiments,
                                           const std::vector<ForwardResult>& forward,
                                           const std::vector<SweepResult>& sweeps) {
  std::vector<std::pair<std::string, Direction>> directions;
  for (int i = 1; i <= study.check.directions; ++i)
    directions.emplace_back(fmt::format("random {}", i), Direction{i, -1});
  if (study.parameters.size() > 1)
    for (std::size_t k = 0; k < study.parameters.size(); ++k)
      if (!study.parameters[k].tie)
        directions.emplace_back(
            study.parameters[k].name,
            Direction{study.check.directions + 1 + static_cast<int>(k), static_cast<int>(k)});
  double objective = 0;
  for (const ForwardResult& result : forward) objective += result.objective;

  std::vector<DirectionCheck> checks;
  for (const auto& [name, direction] : directions) {
    DirectionCheck& check = checks.emplace_back();
    check.name = name;
    for (std::size_t e = 0; e < experiments.size(); ++e)
      check.derivative += experiments[e]->derivative(sweeps[e], direction);
    check.relative_error = std::numeric_limits<double>::infinity();
    std::string problem;
    for (const double h : study.check.steps) {
      const Compared compared = compare(experiments, direction, h, objective, check.derivative);
      if (!compared.problem.empty()) {
        problem = compared.problem;
        continue;
      }
      const double difference = compared.difference;
      const double scale = std::max(std::abs(difference), std::abs(check.derivative));
      const double error = scale > 0 ? std::abs(difference - check.derivative) / scale : 0;
      check.steps.push_back(h);
      check.relative_errors.push_back(error);
      check.remainders.push_back(compared.remainder);
      if (error < check.relative_error) {
        check.relative_error = error;
        check.difference = difference;
      }
    }
    check.slope = slope_of(check.steps, check.remainders, objective);
    judge(check, objective, problem);
    const std::string line = fmt::format(
        "check {}: derivative {:.9e}, differences {:.9e}, relative error {:.1e}, slope {:.3f}: {}",
        check.name, check.derivative, check.difference, check.relative_error, check.slope, check.verdict);
    check.agrees ? log_info(line) : log_warning(line);
  }
  return checks;
}

} // namespace recoil::app
