#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace recoil::inverse {

/// Standard deviation of the noise in a computed function from its values at equally spaced points: the
/// differences of third and higher order, in which a smooth part is lost where the points are close, scaled
/// to that of a single value [More and Wild 2011, Estimating computational noise]; the largest of these
/// estimates, at least the rounding of the values, which is all that fewer than 4 values show.
double noise_level(std::span<const double> values);

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

/// A value of the objective on a line through the values that a derivative is checked at.
struct LineSample {
  double value = 0;
  std::string problem; ///< why it does not count; empty if it does
};

/// The objective at start + factor * direction. Collective.
using ObjectiveOnLine = std::function<LineSample(double factor)>;

/// How the derivative along one direction compares with differences of whole runs.
struct DirectionCheck {
  std::string name;          ///< "random 1", "E"
  double derivative = 0;     ///< of the sweep
  double difference = 0;     ///< central, of the best step
  double relative_error = 0; ///< of the best step
  double slope = 0;          ///< of the Taylor remainder; NaN where it is lost in rounding
  ObjectiveErrors errors;
  std::vector<double> steps, differences, relative_errors, remainders;
  std::vector<double> uncertainties; ///< of the differences, relative
  Judgement judgement = Judgement::not_comparable;
  bool is_lost = false; ///< all changes of the objective are lost in rounding
  std::string problem;  ///< of the last step that has no difference
};

/// Taylor test |J(q + h d) - J(q) - h g.d| = O(h^2) and central differences along a direction d, at falling
/// `steps` h; one-sided differences of the same order where one side has no value, as at a limit of a
/// parameter.
/// @param name, derivative of the direction; `at_start` is J(q), `unsolved` what exact solves would change it
/// by. Collective.
DirectionCheck check_along(std::string name, double derivative, double at_start, double unsolved,
                           const ObjectiveOnLine& objective, std::span<const double> steps);

} // namespace recoil::inverse
