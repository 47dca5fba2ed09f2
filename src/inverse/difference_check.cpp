#include "recoil/inverse/difference_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "recoil/inverse/objective_noise.hpp"

namespace recoil::inverse {

namespace {

/// A change of the objective below this share of it is rounding.
constexpr double rounding = 1e-14;
/// Noise is estimated from runs at this many multiples of this step, or of the smallest one that is compared.
constexpr int noise_points = 6;
constexpr double noise_step = 1e-7;

/// The objective on a line, evaluated once at each place.
class Samples {
public:
  Samples(const ObjectiveOnLine& objective, double at_start)
      : objective_(objective), samples_{{0.0, {at_start, ""}}} {}

  const LineSample& operator()(double factor) {
    const auto found = samples_.find(factor);
    return found != samples_.end() ? found->second
                                   : samples_.emplace(factor, objective_(factor)).first->second;
  }

private:
  const ObjectiveOnLine& objective_;
  std::map<double, LineSample> samples_;
};

/// What runs at a distance h of the start values say.
struct Compared {
  DifferenceQuotient quotient;
  double remainder = 0; ///< of a linear model with the derivative that is checked
  int side = 0;         ///< of the runs: 1 or -1, 0 for both
  std::string problem;  ///< why there is none
};

/// Differences to both sides, or to one where the other has no value, as at a limit of a parameter.
Compared compare(Samples& objective, double h, double derivative) {
  const LineSample &start = objective(0), &plus = objective(h), &minus = objective(-h);
  const auto remainder = [&](const LineSample& at, double step) {
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
  const LineSample &near = side > 0 ? plus : minus, &far = objective(2 * side * h);
  return {{h, side * (4 * near.value - far.value - 3 * start.value) / (2 * h),
           (far.value - 2 * near.value + start.value) / h, true},
          std::abs(remainder(near, side * h)),
          side,
          far.problem};
}

/// Standard deviation of the objective near the start values, from runs to both sides or to one.
double noise_along(Samples& objective, int side, double step) {
  std::vector<double> values;
  for (int i = 0; i <= noise_points; ++i) {
    const int place = side == 0 ? i - noise_points / 2 : side * i;
    // Without one that fails the others are no longer equally spaced, which looks like more noise.
    if (const LineSample& at = objective(place * step); at.problem.empty()) values.push_back(at.value);
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

void judge(DirectionCheck& check, const std::vector<DifferenceQuotient>& quotients, double objective) {
  check.is_lost = is_lost(check, objective);
  const DifferenceJudgement found = judge_differences(quotients, check.derivative, check.errors);
  for (std::size_t i = 0; i < found.uncertainties.size(); ++i) {
    const double scale = std::max(std::abs(quotients[i].value), std::abs(check.derivative));
    check.uncertainties.push_back(scale > 0 ? found.uncertainties[i] / scale : 0);
  }
  check.judgement = check.is_lost ? Judgement::agrees : found.judgement;
}

} // namespace

DirectionCheck check_along(std::string name, double derivative, double at_start, double unsolved,
                           const ObjectiveOnLine& on_line, std::span<const double> steps) {
  DirectionCheck check;
  check.name = std::move(name);
  check.derivative = derivative;
  check.errors.unsolved = unsolved;
  Samples objective(on_line, at_start);
  std::vector<DifferenceQuotient> quotients;
  check.relative_error = std::numeric_limits<double>::infinity();
  int side = 0;
  for (const double h : steps) {
    const Compared compared = compare(objective, h, check.derivative);
    if (!compared.problem.empty()) {
      check.problem = compared.problem;
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
  judge(check, quotients, start);
  return check;
}

} // namespace recoil::inverse
