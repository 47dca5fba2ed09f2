#pragma once

#include <filesystem>

#include <span>
#include <vector>

#include "recoil/app/simulation/run_state.hpp"

namespace recoil::app {

/// What ledger.csv says of a nominal step.
struct LedgerRow {
  GlobalIndex step = 0;
  double time = 0;
  stepping::Balance balance;
  stepping::Entries counts;
};

/// That of the step that `solver` has just taken. Collective.
LedgerRow ledger_row(const stepping::Solver& solver);
/// The rows, with the columns of `like`, of a run that has come to state `last` of a trajectory. @throws
/// FileError if they are not those of such a run.
std::vector<LedgerRow> ledger_rows(const checkpoint::TrajectoryReader& reader, GlobalIndex last,
                                   const LedgerRow& like);

/// ledger.csv of a run folder: one row per nominal step with energies, works, momenta, and what contact
/// looked like. Used by one rank. A convenience: all of it is in the trajectory, too, from which a restart
/// writes the table again.
class LedgerTable {
public:
  /// Writes the table with these rows, which have the columns of `like`, in the place of any other. @throws
  /// FileError.
  LedgerTable(std::filesystem::path file, const LedgerRow& like, std::span<const LedgerRow> rows);

  /// Adds one row. @throws FileError.
  void add(const LedgerRow& row);

private:
  std::filesystem::path file_;
};

} // namespace recoil::app
