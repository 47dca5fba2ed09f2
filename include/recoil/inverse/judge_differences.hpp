#pragma once

#include <span>
#include <vector>

namespace recoil::inverse {

/// A difference quotient of the objective, of second order in its step: to both sides from values at -h and
/// h, or to one side from those at 0, h and 2 h.
struct DifferenceQuotient {
  double step = 0;
  double value = 0;
  double change = 0; ///< of the quotients of first order from one side to the other, or between 0, h and 2 h
  bool is_one_sided = false;
};

/// What keeps the objective of a run from being a smooth function of the parameters.
struct ObjectiveErrors {
  double noise = 0;    ///< standard deviation between runs with nearly the same parameters
  double unsolved = 0; ///< what exact solves of the steps would change
};

/// What differences say about a derivative.
enum class Judgement {
  agrees,
  noisy,       ///< no step is large enough for noise and small enough for truncation
  unconverged, ///< quotients still change at the smallest step, by more than noise
  unsolved,    ///< the derivative is off, by no more than steps that are solved loosely may cause
  wrong,
  not_comparable ///< fewer than two quotients
};

struct DifferenceJudgement {
  Judgement judgement = Judgement::not_comparable;
  std::vector<double> uncertainties; ///< of the quotients, absolute
  std::size_t best = 0;              ///< quotient with the smallest of them
};

/// Compares a derivative, that of exactly solved steps, with quotients at falling steps. The uncertainty of
/// each quotient is made up of noise over its step, of its change from one step to the next (truncation,
/// however smooth the objective is) and of the jump of the one-sided derivatives, which remains at small
/// steps where the objective has a kink. The derivative agrees if it is within the smallest uncertainty, and
/// that is small beside it, or (near a stationary point) beside its change over the largest step; what is
/// left unsolved may add a millionth. It is wrong if it is off at the best step and at another one by more
/// than the uncertainty and the derivative of what is left unsolved, which the runs have as part of their
/// objective.
DifferenceJudgement judge_differences(std::span<const DifferenceQuotient> quotients, double derivative,
                                      const ObjectiveErrors& errors);

} // namespace recoil::inverse
