#pragma once

#include <span>

#include "recoil/stepping/state.hpp"
#include "recoil/stepping/step_record.hpp"

namespace recoil::stepping {

/// How a transposed solve of the reverse sweep went.
struct SweepSolve {
  bool converged = false;
  int iterations = 0;
  double relative_residual = 0;
};

/// The equations of one recorded step (StepRecord), linearised at its states: all that the reverse sweep
/// asks of a solver. G is the gradient of the potentials of the step, K = dG/du_i at the converged state,
/// not projected, K_- = dG/du_{i-1}. Vectors have current ghosts on entry; results are set on owned entries
/// only unless it says otherwise. Everything is collective.
class DifferentiableStep {
public:
  virtual ~DifferentiableStep() = default;

  /// Takes the step of `record` from `previous` (its first predecessor) to `now`; both must live until the
  /// next call.
  virtual void linearize(const StepRecord& record, const State& now, const State& previous) = 0;

  /// y = M x; zero for steps without inertia.
  virtual void multiply_mass(const linalg::Vector& x, linalg::Vector& y) const = 0;
  /// y = K' x on all rows, prescribed ones included.
  virtual void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) = 0;
  /// y = K_-' x on all rows.
  virtual void multiply_previous(const linalg::Vector& x, linalg::Vector& y) = 0;
  /// Solves [M + B^2 K'] x = b on the free rows (K' alone without inertia), x = 0 on the prescribed ones;
  /// ghosts of x are set.
  virtual SweepSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance) = 0;

  /// Adds factor * p' dG/dq of this step to the gradient that the solver was given.
  virtual void add_parameter_products(const linalg::Vector& p, double factor) = 0;
  /// Adds factor * p' (dM/dq) a.
  virtual void add_mass_products(const linalg::Vector& p, const linalg::Vector& a, double factor) = 0;
  /// Adds what the prescribed displacements of the step contribute: y . dg/dq, with y set on owned entries
  /// and zero but on prescribed ones.
  virtual void add_prescribed_products(const linalg::Vector& y) = 0;
  /// Adds what the initial state contributes: u . dg_u/dq + v . dg_v/dq.
  virtual void add_initial_products(const linalg::Vector& u, const linalg::Vector& v) = 0;
};

} // namespace recoil::stepping
