#pragma once

#include "linalg/preconditioned_solver.hpp"

namespace recoil::linalg {

/// Sparse Cholesky factorisation of K + C, checked by conjugate gradients; indefinite systems are solved by
/// an LDL' factorisation.
class DirectSolver final : public PreconditionedSolver {
public:
  explicit DirectSolver(const Settings& settings) : PreconditionedSolver(settings, LinearMethod::direct) {}

  /// By GMRES on a sparse LDL' factorisation, which without pivoting is inexact near singular leading blocks;
  /// where the last set-up has found A to be indefinite. Collective.
  LinearResult solve_indefinite(const Vector& b, Vector& x, double relative_tolerance) override;

private:
  PetscErrorCode run_indefinite(Vec b, Vec x, double relative_tolerance, LinearResult& result) const;
};

} // namespace recoil::linalg
