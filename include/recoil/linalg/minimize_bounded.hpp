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
  /// For Gauss-Newton, one of the two: a positive semidefinite model H of the second derivatives, 2 J'J of
  /// |r|^2 with J = dr/dx, as a matrix of n x n for few variables or by its products H d. Asked for at the x
  /// that gradient() was asked for last, whatever other x value() has been asked for since.
  std::function<std::vector<double>(std::span<const double> x)> hessian = nullptr;
  std::function<void(std::span<const double> x, std::span<const double> d, std::span<double> product)>
      hessian_product = nullptr;
  /// With products: an approximate inverse of H, symmetric and positive definite, z = P r. @pre there are no
  /// bounds.
  std::function<void(std::span<const double> r, std::span<double> z)> preconditioner = nullptr;
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
  quasi_newton,        ///< limited-memory BFGS (Tao's BQNLS)
  conjugate_gradients, ///< nonlinear ones (Tao's BNCG)
  gauss_newton         ///< in a trust region (Tao's BNTR), with a model of the second derivatives
};

/// How a minimisation ended.
struct BoundedMinimum {
  std::vector<double> x;
  double value = 0;
  std::string reason;    ///< what `stop` has said, or why no further step can be taken
  bool is_asked = false; ///< ended by `stop`
  /// Ended by a limit of its iterations alone: more of them may lead on. Set by those who pass `stop`.
  bool is_at_limit = false;
};

/// Minimises a function with Tao, from `start` (moved between the bounds) on, by steps that pass an Armijo
/// test (quasi-Newton) or a More-Thuente search (conjugate gradients). The first step has the length 2 |f| /
/// |g| at most, as if f could fall to zero along g. PETSc options with the prefix "recoil_opt_" may choose
/// other Tao solvers and line searches ("-recoil_opt_tao_type blmvm").
///
/// Gauss-Newton tries the minimum of f + g.d + d.H d / 2 within the free variables, found by Steihaug's
/// conjugate gradients in a trust region; where f does not fall, half the radius. It asks for the value
/// alone until a step is accepted. The first step is that of the whole model. With the
/// matrix, lengths in the trust region are sqrt(d.diag(H) d) (Marquardt), so that the units of the variables
/// do not matter, and the model is minimised exactly: convergence is quadratic where f falls to zero. With
/// products they are |d|, with a preconditioner P sqrt(d.P^-1 d), and a gradient of 1 % ends the conjugate
/// gradients
/// ("-recoil_opt_tao_bnk_ksp_rtol").
///
/// @param stop is shown the start and every iterate after it; says why to end there, or nothing.
/// @throws InputError where the function is not finite at the start or has not what the method needs;
/// whatever the functions throw. Not collective.
BoundedMinimum minimize_bounded(const BoundedFunction& function, std::vector<double> start,
                                DescentMethod method, const std::function<std::string(const Iterate&)>& stop);

} // namespace recoil::linalg
