#pragma once

#include <span>
#include <vector>

namespace recoil::app {

/// A difference quotient of the objective, of second order in its step.
struct DifferenceQuotient {
  double step = 0;
  double value = 0;
  double noise_factor = 0; ///< its standard deviation times the step, over that of the objective
  double gap = 0;          ///< forward minus backward quotient; 0 where there is one side only
};

/// What keeps the objective of a run from being a smooth function of the parameters.
struct ObjectiveErrors {
  double noise = 0;    ///< standard deviation between runs with nearly the same parameters
  double unsolved = 0; ///< what exact solves of the steps would change
};

/// What differences say about a derivative.
enum class Judgement {
  agrees,
  noisy,       ///< no step is large enough for the errors of the objective and small enough for truncation
  unconverged, ///< quotients still change at the smallest step, by more than those errors
  wrong,
  not_comparable ///< fewer than two quotients
};

struct DifferenceJudgement {
  Judgement judgement = Judgement::not_comparable;
  std::vector<double> uncertainties; ///< of the quotients, absolute
  std::size_t best = 0;              ///< quotient with the smallest of them
};

/// Compares a derivative, that of exactly solved steps, with quotients at falling steps. The uncertainty of
/// each quotient is made up of
/// - noise over its step,
/// - the derivative of what is left unsolved, which the runs have as part of their objective,
/// - its change from one step to the next: truncation, however smooth the objective is,
/// - the jump of the one-sided derivatives, which remains at small steps where the objective has a kink.
/// The derivative is wrong if it is off by more than that at the best step and at another one. It agrees if
/// it is within the smallest uncertainty, and that is small beside the derivative, or (near a stationary
/// point) beside the change of the derivative over the largest step.
DifferenceJudgement judge_differences(std::span<const DifferenceQuotient> quotients, double derivative,
                                      const ObjectiveErrors& errors);

} // namespace recoil::app
