#include "recoil/inverse/difference_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace recoil::inverse {

namespace {

/// Standard deviations that noise may be off by; few runs underestimate them by a factor of five at times.
constexpr double noise_margin = 15;
/// How much larger an error may be than the change of the quotient that it is estimated from.
constexpr double change_margin = 3;
/// Relative change of what is left unsolved for a relative change of the parameters: each of the last
/// iterations of Newton's method doubles it. Up to 80 were measured.
constexpr double unsolved_change = 500;
/// A derivative is confirmed by differences that are known to this share of it.
constexpr double tight = 1e-3;
/// What loosely solved steps explain is not worth a word up to this share of the derivative.
constexpr double explained = 1e-6;

using Quotients = std::span<const DifferenceQuotient>;

/// The noise of the difference (f(h) - f(-h)) / (2 h), or (4 f(h) - f(2 h) - 3 f(0)) / (2 h).
double noise_of(const DifferenceQuotient& quotient, double noise) {
  const double factor = quotient.is_one_sided ? std::sqrt(26.0) / 2 : std::sqrt(0.5);
  return noise_margin * noise * factor / quotient.step;
}

/// Derivative of what is left unsolved. It varies faster where the derivative itself does.
double unsolved_derivative(Quotients quotients, double derivative, double unsolved) {
  const double change = std::abs(quotients[0].value - quotients[1].value);
  const double scale = std::max(std::abs(derivative), change);
  const double inverse_length = scale > 0 ? std::sqrt(change / scale) / quotients[0].step : 0;
  return unsolved_change * std::max(1.0, inverse_length) * unsolved;
}

/// Error of a quotient by truncation: its change to the next step, what those at still smaller steps differ
/// from it by beyond their noise, and what is left of the change from the next larger step. An objective with
/// continuous first derivatives leaves an error that falls at least as the step.
double truncation(Quotients quotients, std::size_t i, double noise) {
  const auto change = [&](std::size_t k) { return std::abs(quotients[i].value - quotients[k].value); };
  double error = i + 1 < quotients.size() ? change(i + 1) : change(i - 1);
  for (std::size_t k = i + 2; k < quotients.size(); ++k)
    error = std::max(error, change(k) - noise_of(quotients[k], noise));
  if (i == 0) return error;
  return std::max(error, quotients[i].step / (quotients[i - 1].step - quotients[i].step) * change(i - 1));
}

/// What a kink may add. To both sides the jump of the first derivative at the start, twice what the quotient
/// is off by: the change at step zero, from two steps. To one side the whole change: extrapolation from
/// beyond a jump of the second derivative is off by as much, the same at all larger steps.
double kink(Quotients quotients, std::size_t i) {
  if (quotients[i].is_one_sided) return std::abs(quotients[i].change);
  const DifferenceQuotient &large = quotients[i == 0 ? 0 : i - 1], &small = quotients[i == 0 ? 1 : i];
  const double slope = (large.change - small.change) / (large.step - small.step);
  return std::abs(small.change - slope * small.step);
}

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

double noise_level(std::span<const double> values) {
  constexpr int first_order = 3;
  double level = 0;
  for (const double value : values)
    level = std::max(level, std::numeric_limits<double>::epsilon() * std::abs(value));
  std::vector<double> table(values.begin(), values.end());
  double variance = 1; // of a difference over that of a value: binomial(2 k, k)
  for (int k = 1; table.size() > 1; ++k) {
    for (std::size_t i = 0; i + 1 < table.size(); ++i) table[i] = table[i + 1] - table[i];
    table.pop_back();
    variance *= (4.0 * k - 2) / k;
    if (k < first_order) continue;
    double squares = 0;
    for (const double difference : table) squares += difference * difference;
    level = std::max(level, std::sqrt(squares / table.size() / variance));
  }
  return level;
}

DifferenceJudgement judge_differences(Quotients quotients, double derivative, const ObjectiveErrors& errors) {
  DifferenceJudgement result;
  if (quotients.size() < 2) return result;
  std::vector<double>& uncertainties = result.uncertainties;
  for (std::size_t i = 0; i < quotients.size(); ++i)
    uncertainties.push_back(noise_of(quotients[i], errors.noise) +
                            change_margin * truncation(quotients, i, errors.noise) + kink(quotients, i));
  const std::size_t best = std::ranges::min_element(uncertainties) - uncertainties.begin();
  const double uncertainty = uncertainties[best];
  const double scale = std::max(
      {std::abs(derivative), std::abs(quotients[best].value), std::abs(quotients.front().change) / 2});
  const double unsolved = unsolved_derivative(quotients, derivative, errors.unsolved);
  const auto is_off = [&](std::size_t i, double excuse) {
    return std::abs(quotients[i].value - derivative) > uncertainties[i] + excuse;
  };
  std::size_t off = 0;
  for (std::size_t i = 0; i < quotients.size(); ++i) off += is_off(i, unsolved) ? 1 : 0;
  result.best = best;
  if (is_off(best, unsolved) && off > 1)
    result.judgement = Judgement::wrong;
  else if (is_off(best, std::min(unsolved, explained * scale)))
    result.judgement = unsolved > uncertainty ? Judgement::unsolved : Judgement::noisy;
  else if (uncertainty <= tight * scale)
    result.judgement = Judgement::agrees;
  else if (noise_of(quotients.back(), errors.noise) < uncertainty / 2)
    result.judgement = Judgement::unconverged;
  else
    result.judgement = Judgement::noisy;
  return result;
}

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
