#include "app/study/taylor_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "app/study/judge_differences.hpp"
#include "app/study/objective_noise.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {

namespace {

/// A change of the objective below this share of it is rounding.
constexpr double rounding = 1e-14;
/// Noise is estimated from runs at this many multiples of this step, or of the smallest one that is compared.
constexpr int noise_points = 6;
constexpr double noise_step = 1e-7;

struct Sample {
  double value = 0;
  std::string problem; ///< why it does not count
};

/// The objective along one direction, from the start values.
class ObjectiveAlong {
public:
  ObjectiveAlong(const ExperimentRuns& experiments, const Direction& direction, double at_start)
      : experiments_(experiments), direction_(direction), samples_{{0.0, {at_start, ""}}} {}

  /// Runs the experiments unless they have been run there. Collective.
  const Sample& operator()(double factor) {
    const auto [place, is_new] = samples_.try_emplace(factor);
    Sample& sum = place->second;
    if (!is_new) return sum;
    for (const auto& experiment : experiments_) {
      const ForwardResult result = experiment->run_beside(direction_, factor);
      if (!result.failure.empty()) sum.problem = result.failure;
      if (!result.same_steps) sum.problem = "a run with changed parameters took other (sub-)steps";
      sum.value += result.objective;
    }
    return sum;
  }

private:
  const ExperimentRuns& experiments_;
  Direction direction_;
  std::map<double, Sample> samples_;
};

/// What runs at a distance h of the start values say.
struct Compared {
  DifferenceQuotient quotient;
  double remainder = 0; ///< of a linear model with the derivative that is checked
  int side = 0;         ///< of the runs: 1 or -1, 0 for both
  std::string problem;  ///< why there is none
};

/// Differences to both sides, or to one where the other has no value, as at a limit of a parameter.
Compared compare(ObjectiveAlong& objective, double h, double derivative) {
  const Sample &start = objective(0), &plus = objective(h), &minus = objective(-h);
  const auto remainder = [&](const Sample& at, double step) {
    return at.value - start.value - step * derivative;
  };
  if (plus.problem.empty() && minus.problem.empty())
    // The remainder of both sides, so that the term of third order, which is odd, hardly bends the slope.
    return {
        {h, (plus.value - minus.value) / (2 * h), (plus.value - 2 * start.value + minus.value) / h, false},
        std::hypot(remainder(plus, h), remainder(minus, -h)) / std::sqrt(2.0),
        0,
        ""};
  if (!plus.problem.empty() && !minus.problem.empty()) return {{}, 0, 0, plus.problem};
  const int side = plus.problem.empty() ? 1 : -1;
  const Sample &near = side > 0 ? plus : minus, &far = objective(2 * side * h);
  return {{h, side * (4 * near.value - far.value - 3 * start.value) / (2 * h),
           (far.value - 2 * near.value + start.value) / h, true},
          std::abs(remainder(near, side * h)),
          side,
          far.problem};
}

/// Standard deviation of the objective near the start values, from runs to both sides or to one.
double noise_along(ObjectiveAlong& objective, int side, double step) {
  std::vector<double> values;
  for (int i = 0; i <= noise_points; ++i) {
    const int place = side == 0 ? i - noise_points / 2 : side * i;
    // Without one that fails the others are no longer equally spaced, which looks like more noise.
    if (const Sample& at = objective(place * step); at.problem.empty()) values.push_back(at.value);
  }
  return noise_level(values);
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

/// The verdict in words.
std::string describe(const DirectionCheck& check, bool is_lost, const std::string& problem) {
  const double known = check.uncertainties.empty() ? 0 : *std::ranges::min_element(check.uncertainties);
  switch (check.judgement) {
  case Judgement::agrees:
    if (is_lost) return "agrees (all changes of the objective are lost in rounding)";
    return std::isnan(check.slope) ? "agrees (the remainder is lost in rounding)" : "agrees";
  case Judgement::noisy:
    return fmt::format(
        "noise: runs repeat the objective to {:.1e}, and so the differences are known to {:.1e} only: "
        "tighten solver/nonlinear/grad_norm_tol and rel_grad_norm_tol, or take larger steps",
        check.errors.noise, known);
  case Judgement::unconverged:
    return fmt::format(
        "not converged: the differences are known to {:.1e} only: take smaller steps, unless the "
        "objective has a kink here",
        known);
  case Judgement::unsolved:
    return fmt::format(
        "loosely solved: off by {:.1e}, and exact solves of the steps would change the objective by "
        "{:.1e}: tighten solver/nonlinear/grad_norm_tol and rel_grad_norm_tol",
        check.relative_error, check.errors.unsolved);
  case Judgement::wrong:
    return fmt::format("wrong derivative: off by {:.1e}, where the differences are known to {:.1e}",
                       check.relative_error, known);
  case Judgement::not_comparable:
    break;
  }
  return "not comparable: " + problem;
}

void judge(DirectionCheck& check, const std::vector<DifferenceQuotient>& quotients, double objective,
           const std::string& problem) {
  const bool lost = is_lost(check, objective);
  const DifferenceJudgement found = judge_differences(quotients, check.derivative, check.errors);
  for (std::size_t i = 0; i < found.uncertainties.size(); ++i) {
    const double scale = std::max(std::abs(quotients[i].value), std::abs(check.derivative));
    check.uncertainties.push_back(scale > 0 ? found.uncertainties[i] / scale : 0);
  }
  check.judgement = lost ? Judgement::agrees : found.judgement;
  check.verdict = describe(check, lost, problem);
}

/// Compares check.derivative with runs along its direction.
void check_along(DirectionCheck& check, ObjectiveAlong& objective, const std::vector<double>& steps) {
  std::vector<DifferenceQuotient> quotients;
  check.relative_error = std::numeric_limits<double>::infinity();
  std::string problem;
  int side = 0;
  for (const double h : steps) {
    const Compared compared = compare(objective, h, check.derivative);
    if (!compared.problem.empty()) {
      problem = compared.problem;
      continue;
    }
    side = compared.side;
    quotients.push_back(compared.quotient);
    const double difference = compared.quotient.value;
    const double scale = std::max(std::abs(difference), std::abs(check.derivative));
    const double error = scale > 0 ? std::abs(difference - check.derivative) / scale : 0;
    check.steps.push_back(h);
    check.differences.push_back(difference);
    check.relative_errors.push_back(error);
    check.remainders.push_back(compared.remainder);
    if (error < check.relative_error) {
      check.relative_error = error;
      check.difference = difference;
    }
  }
  const double start = objective(0).value;
  if (!quotients.empty())
    check.errors.noise = noise_along(objective, side, std::min(noise_step, check.steps.back()));
  check.slope = slope_of(check.steps, check.remainders, start);
  judge(check, quotients, start, problem);
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
  double at_start = 0, unsolved = 0;
  for (const ForwardResult& result : forward) at_start += result.objective;
  for (const SweepResult& sweep : sweeps) unsolved += std::abs(sweep.objective_correction);

  std::vector<DirectionCheck> checks;
  for (const auto& [name, direction] : directions) {
    DirectionCheck& check = checks.emplace_back();
    check.name = name;
    for (std::size_t e = 0; e < experiments.size(); ++e)
      check.derivative += experiments[e]->derivative(sweeps[e], direction);
    ObjectiveAlong objective(experiments, direction, at_start);
    check.errors.unsolved = unsolved;
    check_along(check, objective, study.check.steps);
    const std::string line = fmt::format(
        "check {}: derivative {:.9e}, differences {:.9e}, relative error {:.1e}, slope {:.3f}: {}",
        check.name, check.derivative, check.difference, check.relative_error, check.slope, check.verdict);
    check.judgement == Judgement::agrees ? log_info(line) : log_warning(line);
  }
  return checks;
}

} // namespace recoil::app
