#pragma once

#include <functional>
#include <limits>
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
  /// For Gauss-Newton, one of the two, asked for at the x that gradient() was asked for last, whatever other
  /// x value() has been asked for since: of |r|^2 with J = dr/dx an R with R'R = [J r]'[J r], (n + 1) x (n +
  /// 1) column by column, for few variables; or products H d of the model H = 2 J'J of the second
  /// derivatives.
  std::function<std::vector<double>(std::span<const double> x)> residual_factor = nullptr;
  std::function<void(std::span<const double> x, std::span<const double> d, std::span<double> product)>
      hessian_product = nullptr;
  /// With products: an approximate inverse of H, symmetric and positive definite, z = P r. @pre there are no
  /// bounds.
  std::function<void(std::span<const double> r, std::span<double> z)> preconditioner = nullptr;
  /// With residual_factor: how far the first step may move a variable; later ones may move it that far, or
  /// twice as far as the step before has moved any.
  double reach = std::numeric_limits<double>::infinity();
};

/// Where a minimisation stands.
struct Iterate {
  int iteration = 0; ///< 0: the start
  std::span<const double> x;
  double value = 0;
  double gradient_norm = 0; ///< of the gradient without the components that point out of the bounds
  double step = 0;          ///< |x - x of the iterate before|
  /// With residual_factor, over the free variables, which neither are at a bound that the gradient points out
  /// of nor without effect: the largest |J_j.r| / (|J_j| |r|), the cosine of the angle between residuals and
  /// a column of J, 0 at a minimum [More 1978, section 7]; and the largest |d_j| of the step d to the minimum
  /// of |r + J d|^2. Infinite without it.
  double largest_cosine = std::numeric_limits<double>::infinity();
  double whole_step = std::numeric_limits<double>::infinity();
};

enum class DescentMethod {
  quasi_newton,        ///< limited-memory BFGS (Tao's BQNLS)
  conjugate_gradients, ///< nonlinear ones (Tao's BNCG)
  gauss_newton         ///< in a trust region, with a model of the second derivatives
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
/// Gauss-Newton tries the minimum of |r + J d|^2 between the bounds within a trust region, and asks for the
/// value alone until a step is accepted; the first step is that of the whole model.
///
/// With residual_factor this is the method of Levenberg and Marquardt in the form of [More 1978, The
/// Levenberg-Marquardt algorithm: implementation and theory], for up to some hundred variables: the
/// sub-problem is solved exactly, by orthogonal decompositions of J and an active set of bounds; lengths are
/// |D d| with D the largest norms of the columns of J so far, so that the units of the variables do not
/// matter. Where f does not fall, or by less than a quarter of what the model says, the radius becomes a
/// tenth to a half of the step. It ends by itself where a step would change r by less than 1e-8 |r|.
///
/// With products it is Tao's BNTR, by Steihaug's conjugate gradients among the free variables, which a
/// gradient of 1 % ends ("-recoil_opt_tao_bnk_ksp_rtol"); lengths are |d|, with a preconditioner P
/// sqrt(d.P^-1 d). Where f does not fall, half the radius.
///
/// @param stop is shown the start and every iterate after it; says why to end there, or nothing.
/// @throws InputError where the function is not finite at the start or has not what the method needs;
/// whatever the functions throw. Not collective.
BoundedMinimum minimize_bounded(const BoundedFunction& function, std::vector<double> start,
                                DescentMethod method, const std::function<std::string(const Iterate&)>& stop);

} // namespace recoil::linalg
