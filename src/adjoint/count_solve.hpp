#pragma once

#include <string>

#include "recoil/adjoint/sweep_totals.hpp"
#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::adjoint {

/// Names the nominal step and the time of `record` before `what` has happened there, as all messages of
/// sweeps do.
std::string at_step(const stepping::StepRecord& record, const std::string& what);

/// Adds `solve`, one of the step of `record`, to `totals`. Empty, or where it has not converged the message
/// that `unknown` cannot be solved there to the tolerance of `options`: to users of a sweep that is a result,
/// as states where no derivative exists are found in this way. The same on all ranks.
std::string count_solve(const stepping::LinearSolve& solve, const stepping::StepRecord& record,
                        const std::string& unknown, const SweepOptions& options, SolveTotals& totals);

} // namespace recoil::adjoint
