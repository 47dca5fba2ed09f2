#pragma once

#include <filesystem>

#include "recoil/solvers/elastodynamics/solver.hpp"

namespace recoil::app {

/// ledger.csv of a run folder: one row per nominal step with energies, works, momenta, and what contact
/// looked like. Used by one rank. A convenience: the same numbers of the stored states are in the trajectory,
/// so a row that was lost in a crash is not restored.
class LedgerTable {
public:
  /// Starts the table, or goes on with the rows up to step `last_step` of one that is there. @throws
  /// FileError.
  LedgerTable(std::filesystem::path file, GlobalIndex last_step);

  /// Adds one row. @throws FileError.
  void add(GlobalIndex step, double time, const solvers::Ledger& ledger, const solvers::StepReport& report);

private:
  std::filesystem::path file_;
};

} // namespace recoil::app
