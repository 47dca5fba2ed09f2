#pragma once

#include <cstddef>

#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::stepping {

/// The equations of one recorded step, linearised at its states: all that a tangent-linear sweep asks of a
/// solver, the transpose of what DifferentiableStep gives. Several directions dq in the space of parameters
/// are swept together. Arguments have current ghosts; results have too. After linearize() products and solves
/// come in any order: the right-hand sides need products. Everything is collective.
class TangentStep {
public:
  virtual ~TangentStep() = default;

  /// As DifferentiableStep::linearize(); the states must live as long as the step is worked at.
  virtual void linearize(const StepRecord& record, const State& now, const State& previous) = 0;

  /// y = M x with the mass matrix of the run; not of a step.
  virtual void multiply_mass(const linalg::Vector& x, linalg::Vector& y) = 0;
  /// Solves [M + B^2 K] x = b (K x = b without inertia) on the free entries; x = 0 on prescribed ones.
  virtual LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance) = 0;
  /// y = K x on all entries.
  virtual void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) = 0;
  /// y = K_- x on all entries.
  virtual void multiply_previous(const linalg::Vector& x, linalg::Vector& y) = 0;

  virtual std::size_t num_directions() const = 0;
  /// y = dG/dq dq at fixed states, on all entries.
  virtual void parameter_tangent(std::size_t direction, linalg::Vector& y) = 0;
  /// y = (dM/dq dq) x; not of a step.
  virtual void mass_tangent(std::size_t direction, const linalg::Vector& x, linalg::Vector& y) = 0;
  /// y = dg/dq dq on the prescribed entries, for the prescribed displacements g of the step; 0 elsewhere.
  virtual void prescribed_tangent(std::size_t direction, linalg::Vector& y) = 0;
  /// y = dg_u/dq dq and z = dg_v/dq dq of the initial displacement and velocity.
  virtual void initial_tangent(std::size_t direction, linalg::Vector& y, linalg::Vector& z) = 0;
};

} // namespace recoil::stepping
