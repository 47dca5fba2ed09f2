#pragma once

#include <filesystem>

#include <span>
#include <vector>

#include "recoil/app/simulation/run_state.hpp"
#include "recoil/checkpoint/state.hpp"

namespace recoil::app {

/// What ledger.csv says of a nominal step.
struct LedgerRow {
  GlobalIndex step = 0;
  double time = 0;
  solvers::Ledger ledger;
  StepCounts counts;
};

/// The rows of a run that has come to the last of `records`. @throws FileError if they are not those of a
/// run.
std::vector<LedgerRow> ledger_rows(std::span<const checkpoint::StateRecord> records);

/// ledger.csv of a run folder: one row per nominal step with energies, works, momenta, and what contact
/// looked like. Used by one rank. A convenience: all of it is in the trajectory, too, from which a restart
/// writes the table again.
class LedgerTable {
public:
  /// Writes the table with these rows in the place of any other. @throws FileError.
  LedgerTable(std::filesystem::path file, std::span<const LedgerRow> rows);

  /// Adds one row. @throws FileError.
  void add(const LedgerRow& row);

private:
  std::filesystem::path file_;
};

} // namespace recoil::app
