#pragma once

#include <cmath>
#include <limits>

#include "recoil/linalg/linear_result.hpp"
#include "recoil/linalg/vector.hpp"

namespace recoil::newton {

/// What happens to the Hessians of the single elements (and contact stencils) before they are summed.
enum class Projection {
  none,       ///< the exact Hessian
  per_element ///< each block replaced by a positive semi-definite one: the nearest, or a majorizer's
};

/// A twice differentiable function of a distributed vector, minimised by newton::minimize: the incremental
/// potential of a time step, or the energy of a static one.
///
/// Every function is collective and gives the same numbers, bit for bit, on every rank, because the ranks
/// decide by them without communication. The ghosts of the `x` and `d` passed in are current; of vectors
/// passed out only the owned entries are read. A point x is feasible when the value there is finite.
/// Numerical trouble is a returned outcome or number, never an exception.
class Objective {
public:
  virtual ~Objective() = default;

  /// The function at `x`, summed over all ranks; +infinity where x is infeasible (an inverted element, say).
  /// NaN and -infinity end the minimisation.
  virtual double value(const linalg::Vector& x) = 0;

  /// Sets the owned entries of `g` to the reduced gradient at a feasible `x`: zero on prescribed dofs.
  virtual void gradient(const linalg::Vector& x, linalg::Vector& g) = 0;

  /// Assembles and keeps the Hessian at a feasible `x`, forgetting earlier ones and their shifts.
  virtual void assemble_hessian(const linalg::Vector& x, Projection projection) = 0;

  /// Adds `factor` > 0 times a fixed positive diagonal (or mass) matrix to the assembled Hessian. The matrix
  /// is of the Hessian's own size - its absolute diagonal is a good choice -, so that `factor` has no unit.
  /// Shifts add up.
  virtual void shift_hessian(double factor) = 0;

  /// Solves H d = rhs with the assembled, shifted Hessian, from d = 0, to a residual below
  /// `relative_tolerance` |rhs|; d = 0 on prescribed dofs. After `failed` the contents of d do not matter.
  virtual linalg::LinearResult solve(const linalg::Vector& rhs, linalg::Vector& d,
                                     double relative_tolerance) = 0;

  /// Whether shifts of an indefinite exact Hessian are worth trying before the projected one: where solve()
  /// finds out soon. Default: yes.
  virtual bool tries_exact_shifts() const { return true; }

  /// After the exact Hessian has failed, how many iterations at most use projected ones before it is
  /// tried again: 1, 2, 4, .. up to this. Worth a few where assembly and set-up cost more than iterations.
  /// Default: 0, it is tried in every iteration.
  virtual int longest_projected_run() const { return 0; }

  /// An accepted step with the exact Hessian below this share of its direction counts as if that Hessian had
  /// failed: such steps lead across kinks, as those of friction, and so do the next ones. Default: 0, none
  /// does.
  virtual double useful_step() const { return 0; }

  /// Share of the stopping norm that a linear solve may leave after which the iterations may end. Default: 0,
  /// such solves go to ForcingTerms::smallest; more where that costs many linear iterations. It does not
  /// count for the first solve of a minimisation, before which the linear solver may not have been chosen.
  virtual double share_of_last_residual() const { return 0; }

  /// A step s in (0, 1] such that all of the path from the feasible `x` to R_x(s d) is feasible; 1 where
  /// nothing limits it. It should stop short of the boundary by a margin of its own.
  virtual double max_step(const linalg::Vector& x, const linalg::Vector& d) = 0;

  /// The norm of a reduced gradient in the units of the stopping rule. Default: Euclidean.
  virtual double gradient_norm(const linalg::Vector& g) { return g.norm(); }

  /// The size of the largest of the terms (forces of one kind, say) that the gradient of the last gradient()
  /// is the sum of, in the norm of gradient_norm(). Default: unknown, infinity.
  virtual double largest_term_norm() const { return std::numeric_limits<double>::infinity(); }

  /// The size of the round-off in `value` = value(x): differences of this size carry no information. Worth
  /// overriding where the value is the difference of much larger terms. Default: machine epsilon times
  /// |value|.
  virtual double value_resolution(const linalg::Vector& /*x*/, double value) {
    return std::numeric_limits<double>::epsilon() * std::abs(value);
  }

  /// Called with each accepted iterate. True when the function itself changed in response (a barrier
  /// stiffness, say): value and gradient are then evaluated again before the next iteration. Default:
  /// nothing, false.
  virtual bool accepted(const linalg::Vector& /*x*/) { return false; }
};

} // namespace recoil::newton
