#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "recoil/stepping/history.hpp"

namespace recoil::stepping {

/// How a linear solve of a sweep went.
struct LinearSolve {
  bool converged = false;
  int iterations = 0;
  double relative_residual = 0;
};

/// The equations of one recorded step (StepRecord), linearised at its states: what sweeps in both directions
/// ask of a solver. K stands for the derivative of the equations by the state that the step leads to, not
/// projected; a reverse sweep is given the solves and products with its transpose, a tangent-linear one those
/// with K itself. Arguments have current ghosts where nothing else is said; results have too. Everything is
/// collective.
class StepEquations {
public:
  virtual ~StepEquations() = default;

  /// Takes the step of `record` from `previous` (the state of its first predecessor) to `now`; both must live
  /// until the next call.
  virtual void linearize(const StepRecord& record, const State& now, const State& previous) = 0;
  /// Solves the linearised equations for x on the free entries, with b on the right; x = 0 on prescribed
  /// ones.
  virtual LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance) = 0;
  /// y = K x on all entries, prescribed ones included.
  virtual void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) = 0;
};

/// Steps of BDF, as StepRecord has them. G is the gradient of the potentials of the step, K = dG/du_i,
/// K_- = dG/du_{p_1}; solve() has the matrix M + B^2 K, K without inertia.
class BdfEquations : public virtual StepEquations {
public:
  /// y = M x with the mass matrix of the run; not of a step, so it may be called before linearize().
  virtual void multiply_mass(const linalg::Vector& x, linalg::Vector& y) = 0;
  /// y = K_- x on all entries.
  virtual void multiply_previous(const linalg::Vector& x, linalg::Vector& y) = 0;
};

/// How a step of a solver whose states lie on a manifold that is not flat, as that of rotations, depends on
/// the state before it, p. In the tangent spaces of both states, du and dv being the changes of a state:
///
///     A du_i + D du_p + E dv_p + F ds_p + dR/dq dq = 0    on free entries,
///     dv_i = P du_i + Q du_p + S dv_p,    ds_i = T ds_p + W du_i + dz/dq dq,
///
/// s being the internal variables of states, if they have any: the equations of a step see those at its
/// start. Every rank has the changes of, and derivatives by, all that it holds, those that others hold, too,
/// included.
///
/// K and the matrix of solve() are both A.
class StepMap : public virtual StepEquations {
public:
  /// y = D du_p + E dv_p; ghosts of y are current.
  virtual void multiply_start(const linalg::Vector& du_p, const linalg::Vector& dv_p, linalg::Vector& y) = 0;
  /// by_u += D' p and by_v += E' p, on owned entries.
  virtual void add_start_transposed(const linalg::Vector& p, linalg::Vector& by_u, linalg::Vector& by_v) = 0;
  /// dv = P du + Q du_p + S dv_p; ghosts of dv are current.
  virtual void multiply_velocity(const linalg::Vector& du, const linalg::Vector& du_p,
                                 const linalg::Vector& dv_p, linalg::Vector& dv) = 0;
  /// by_u += P' nu, by_previous_u += Q' nu and by_previous_v += S' nu, on owned entries, of which alone nu
  /// needs to have values.
  virtual void add_velocity_transposed(const linalg::Vector& nu, linalg::Vector& by_u,
                                       linalg::Vector& by_previous_u, linalg::Vector& by_previous_v) = 0;

  // Of internal variables; without, nothing.

  /// y += F ds_p, ghosts of y are current.
  virtual void add_internal_start(std::span<const double> /*ds_p*/, linalg::Vector& /*y*/) {}
  /// by_internal += F' p.
  virtual void add_internal_start_transposed(const linalg::Vector& /*p*/, std::span<double> /*by_internal*/) {
  }
  /// ds += T ds_p + W du.
  virtual void add_internal(std::span<const double> /*ds_p*/, const linalg::Vector& /*du*/,
                            std::span<double> /*ds*/) {}
  /// by_previous_internal += T' sigma, and by_u += W' sigma on owned entries.
  virtual void add_internal_transposed(std::span<const double> /*sigma*/, linalg::Vector& /*by_u*/,
                                       std::span<double> /*by_previous_internal*/) {}
};

/// What the reverse sweep asks for beside the equations. Several objectives may be swept together: the
/// products by parameters say to whose gradient they belong. All solves of a step come before the first
/// product.
class ReverseProducts : public virtual StepEquations {
public:
  /// p' G (of a StepMap p' R) over the free entries of all ranks, after linearize().
  virtual double gradient_product(const linalg::Vector& p) = 0;
  /// Whether some parameter moves prescribed displacements; if not, the sweep saves their multipliers.
  virtual bool wants_prescribed_products() const = 0;
  /// Gradient of `objective` += factor * p' dG/dq at fixed states.
  virtual void add_parameter_products(std::size_t objective, const linalg::Vector& p, double factor) = 0;
  /// += y' dg/dq for the prescribed displacements g of the step; only the prescribed entries of y count.
  virtual void add_prescribed_products(std::size_t objective, const linalg::Vector& y) = 0;
  /// += y' dg_u/dq + z' dg_v/dq for the initial displacement and velocity.
  virtual void add_initial_products(std::size_t objective, const linalg::Vector& y,
                                    const linalg::Vector& z) = 0;
};

/// A recorded step of BDF for the reverse sweep.
class BdfReverseStep : public virtual BdfEquations, public ReverseProducts {
public:
  /// += p' (dM/dq) x; like multiply_mass not of a step.
  virtual void add_mass_products(std::size_t objective, const linalg::Vector& p, const linalg::Vector& x) = 0;
};

/// A recorded step of a solver whose steps are no BDF for the reverse sweep.
class MapReverseStep : public virtual StepMap, public ReverseProducts {
public:
  /// += sigma' dz/dq, of the internal variables.
  virtual void add_internal_products(std::size_t /*objective*/, std::span<const double> /*sigma*/) {}
};

/// A recorded step for the reverse sweep.
using DifferentiableStep = std::variant<BdfReverseStep*, MapReverseStep*>;

/// What a tangent-linear sweep asks for: the transpose of what ReverseProducts gives. Several directions dq
/// in the space of parameters are swept together. Products and solves come in any order: the right-hand
/// sides need products.
class TangentProducts : public virtual StepEquations {
public:
  virtual std::size_t num_directions() const = 0;
  /// y = dG/dq dq at fixed states, on all entries.
  virtual void parameter_tangent(std::size_t direction, linalg::Vector& y) = 0;
  /// y = dg/dq dq on the prescribed entries, for the prescribed displacements g of the step; 0 elsewhere.
  virtual void prescribed_tangent(std::size_t direction, linalg::Vector& y) = 0;
  /// y = dg_u/dq dq and z = dg_v/dq dq of the initial displacement and velocity.
  virtual void initial_tangent(std::size_t direction, linalg::Vector& y, linalg::Vector& z) = 0;
};

/// A recorded step of BDF for the tangent-linear sweep.
class BdfTangentStep : public virtual BdfEquations, public TangentProducts {
public:
  /// y = (dM/dq dq) x; not of a step.
  virtual void mass_tangent(std::size_t direction, const linalg::Vector& x, linalg::Vector& y) = 0;
};

/// A recorded step of a solver whose steps are no BDF for the tangent-linear sweep.
class MapTangentStep : public virtual StepMap, public TangentProducts {
public:
  /// ds += dz/dq dq, of the internal variables.
  virtual void add_internal_tangent(std::size_t /*direction*/, std::span<double> /*ds*/) {}
};

/// A recorded step for the tangent-linear sweep.
using TangentStep = std::variant<BdfTangentStep*, MapTangentStep*>;

} // namespace recoil::stepping
