#include "recoil/inverse/judge_differences.hpp"

#include <algorithm>
#include <cmath>

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

/// Of the difference (f(h) - f(-h)) / (2 h), or (4 f(h) - f(2 h) - 3 f(0)) / (2 h).
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

} // namespace

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

} // namespace recoil::inverse
