#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace recoil::linalg {

/// A function of variables between bounds, all of which this process holds.
struct BoundedFunction {
  std::vector<double> lower, upper; ///< infinite where there is no bound
  /// Infinite or NaN where x is not admissible: line searches then take a shorter step.
  std::function<double(std::span<const double> x)> value;
  /// Asked for at values of x where value() is finite.
  std::function<void(std::span<const double> x, std::span<double> gradient)> gradient;
};

/// Where a minimisation stands.
struct Iterate {
  int iteration = 0; ///< 0: the start
  std::span<const double> x;
  double value = 0;
  double gradient_norm = 0; ///< of the gradient without the components that point out of the bounds
  double step = 0;          ///< |x - x of the iterate before|
};

enum class DescentMethod {
  quasi_newton,       ///< limited-memory BFGS (Tao's BQNLS)
  conjugate_gradients ///< nonlinear ones (Tao's BNCG)
};

/// How a minimisation ended.
struct BoundedMinimum {
  std::vector<double> x;
  double value = 0;
  std::string reason;    ///< what `stop` has said, or why no further step can be taken
  bool is_asked = false; ///< ended by `stop`
};

/// Minimises a function with Tao, from `start` (moved between the bounds) on, by steps that pass an Armijo
/// test (quasi-Newton) or a More-Thuente search (conjugate gradients). The first step has the length 2 |f| /
/// |g| at most, as if f could fall to zero along g. PETSc options with the prefix "recoil_opt_" may choose
/// other Tao solvers and line searches ("-recoil_opt_tao_type blmvm").
///
/// @param stop is shown the start and every iterate after it; says why to end there, or nothing.
/// @throws InputError where the function is not finite at the start; whatever the functions throw. Not
/// collective.
BoundedMinimum minimize_bounded(const BoundedFunction& function, std::vector<double> start,
                                DescentMethod method, const std::function<std::string(const Iterate&)>& stop);

} // namespace recoil::linalg
