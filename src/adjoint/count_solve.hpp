#pragma once

#include <string>

#include "recoil/adjoint/sweep_totals.hpp"
#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::adjoint {

/// Names the step of `record` before `what` has happened there.
std::string at_step(const stepping::StepRecord& record, const std::string& what);

/// Adds `solve` to `totals`. Empty, or where it has not converged the message that `unknown` cannot be
/// solved for in the step of `record`.
std::string count_solve(const stepping::LinearSolve& solve, const stepping::StepRecord& record,
                        const std::string& unknown, const SweepOptions& options, SolveTotals& totals);

} // namespace recoil::adjoint
