#pragma once

#include <filesystem>
#include <string>

#include "recoil/parallel/communicator.hpp"
#include "recoil/solvers/elastodynamics/norms.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// What summary.json says about a run.
struct Summary {
  std::string status;  ///< done, interrupted, failed
  std::string message; ///< why it failed; else empty
  GlobalIndex steps = 0, dofs = 0, vertices = 0, elements = 0;
  double time = 0, wall_seconds = 0, io_seconds = 0;
  int ranks = 1;
  solvers::SolverTotals totals;
  solvers::Ledger ledger;
  solvers::DisplacementNorms norms;
  double peak_memory_max_mb = 0, peak_memory_sum_mb = 0;
  bool repeatable = true;
  std::string linear_solver;
};

/// Writes summary.json atomically. Call on one rank. @throws FileError.
void write_summary(const std::filesystem::path& path, const Summary& summary);

} // namespace recoil::app
