#include "app/study/judge_differences.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::app {

namespace {

/// Standard deviations that noise may be off by, with some margin for how well it is known.
constexpr double noise_margin = 5;
/// How much larger an error may be than the change of the quotient that it is estimated from.
constexpr double change_margin = 3;
/// Relative change of what is left unsolved for a relative change of the parameters: each of the last
/// iterations of Newton's method doubles it. Up to 80 were measured.
constexpr double unsolved_change = 500;
/// A derivative is confirmed by differences that are known to this share of it.
constexpr double tight = 1e-3;

using Quotients = std::span<const DifferenceQuotient>;

double noise_of(const DifferenceQuotient& quotient, double noise) {
  return noise_margin * noise * quotient.noise_factor / quotient.step;
}

/// Derivative of what is left unsolved. It varies faster where the derivative itself does.
double unsolved_derivative(Quotients quotients, double derivative, double unsolved) {
  const double change = std::abs(quotients[0].value - quotients[1].value);
  const double scale = std::max(std::abs(derivative), change);
  const double inverse_length = scale > 0 ? std::sqrt(change / scale) / quotients[0].step : 0;
  return unsolved_change * std::max(1.0, inverse_length) * unsolved;
}

/// Error of a quotient by truncation. An objective with continuous first derivatives leaves an error that
/// falls at least as the step, where noise grows as the step falls.
double truncation(Quotients quotients, std::size_t i) {
  const auto change = [&](std::size_t k) { return std::abs(quotients[k].value - quotients[k + 1].value); };
  if (i + 1 == quotients.size()) return change(i - 1);
  if (i == 0) return change(0);
  const double ratio = quotients[i].step / (quotients[i - 1].step - quotients[i].step);
  return std::max(ratio * change(i - 1), change(i));
}

/// Half the jump of the first derivative at the start: what the gap comes to at step zero, from two steps.
double kink(Quotients quotients, std::size_t i) {
  const DifferenceQuotient &large = quotients[i == 0 ? 0 : i - 1], &small = quotients[i == 0 ? 1 : i];
  const double slope = (large.gap - small.gap) / (large.step - small.step);
  return std::abs(small.gap - slope * small.step) / 2;
}

} // namespace

DifferenceJudgement judge_differences(Quotients quotients, double derivative, const ObjectiveErrors& errors) {
  DifferenceJudgement result;
  if (quotients.size() < 2) return result;
  const auto error = [&](std::size_t i) { return std::abs(quotients[i].value - derivative); };
  const double unsolved = unsolved_derivative(quotients, derivative, errors.unsolved);
  const auto by_objective = [&](std::size_t i) { return unsolved + noise_of(quotients[i], errors.noise); };
  std::vector<double>& uncertainties = result.uncertainties;
  std::size_t off = 0;
  for (std::size_t i = 0; i < quotients.size(); ++i) {
    uncertainties.push_back(by_objective(i) + change_margin * truncation(quotients, i) + kink(quotients, i));
    if (error(i) > uncertainties[i]) ++off;
  }
  const std::size_t best =
      static_cast<std::size_t>(std::ranges::min_element(uncertainties) - uncertainties.begin());
  const double scale =
      std::max({std::abs(derivative), std::abs(quotients[best].value), std::abs(quotients.front().gap) / 2});
  const bool is_off = error(best) > uncertainties[best];
  result.best = best;
  if (is_off && off > 1)
    result.judgement = Judgement::wrong;
  else if (!is_off && uncertainties[best] <= tight * scale)
    result.judgement = Judgement::agrees;
  else if (best + 1 == quotients.size() && by_objective(best) < uncertainties[best] / 2)
    result.judgement = Judgement::unconverged;
  else
    result.judgement = Judgement::noisy;
  return result;
}

} // namespace recoil::app
