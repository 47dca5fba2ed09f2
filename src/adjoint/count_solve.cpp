#include "adjoint/count_solve.hpp"

#include <algorithm>
#include <sstream>

namespace recoil::adjoint {

std::string at_step(const stepping::StepRecord& record, const std::string& what) {
  std::ostringstream text;
  text << "step " << record.nominal_step << " (t = " << record.time << "): " << what;
  return text.str();
}

std::string count_solve(const stepping::LinearSolve& solve, const stepping::StepRecord& record,
                        const std::string& unknown, const SweepOptions& options, SolveTotals& totals) {
  ++totals.solves;
  totals.linear_iterations += solve.iterations;
  totals.largest_relative_residual = std::max(totals.largest_relative_residual, solve.relative_residual);
  if (solve.converged) return "";
  std::ostringstream text;
  text << unknown << " cannot be solved: relative residual " << solve.relative_residual << " after "
       << solve.iterations << " iterations, " << options.relative_tolerance
       << " is asked for; the state may be a saddle or a fold, where gradients do not exist";
  return at_step(record, text.str());
}

} // namespace recoil::adjoint
