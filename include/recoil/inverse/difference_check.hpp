#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "recoil/inverse/judge_differences.hpp"

namespace recoil::inverse {

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
