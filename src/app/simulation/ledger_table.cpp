#include "recoil/app/simulation/ledger_table.hpp"

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

std::string head(const LedgerRow& row) {
  std::string line = "step,time";
  for (const stepping::Entry& energy : row.balance.energies) line += fmt::format(",{}", energy.name);
  for (const stepping::Entry& momentum : row.balance.momenta)
    line += fmt::format(",{0}_x,{0}_y,{0}_z", momentum.name);
  for (const stepping::Entry& count : row.counts) line += fmt::format(",{}", count.name);
  return line + "\n";
}

/// Puts values into a row.
struct Cells {
  std::string& line;
  int digits;
  void operator()(GlobalIndex value) const { line += fmt::format(",{}", value); }
  void operator()(double value) const {
    line += std::isfinite(value) ? fmt::format(",{:.{}g}", value, digits) : ",";
  }
  void operator()(const std::array<double, 3>& value) const {
    for (const double component : value) (*this)(component);
  }
  void operator()(const std::string& value) const { line += "," + value; }
};

std::string line_of(const LedgerRow& row) {
  std::string line = fmt::format("{},{:.17g}", row.step, row.time);
  for (const stepping::Entry& energy : row.balance.energies) std::visit(Cells{line, 17}, energy.value);
  for (const stepping::Entry& momentum : row.balance.momenta) std::visit(Cells{line, 9}, momentum.value);
  for (const stepping::Entry& count : row.counts) std::visit(Cells{line, 9}, count.value);
  return line + "\n";
}

/// Gives `entry` the value that `stored` has for `name`.
void set(stepping::Entry& entry, const stepping::Entries& stored, const std::string& name) {
  const auto take = [&]<class Value>(Value& value) { value = stepping::value_of<Value>(stored, name); };
  std::visit(take, entry.value);
}

} // namespace

LedgerRow ledger_row(const stepping::Solver& solver) {
  return {solver.step(), solver.time(), solver.balance(), solver.counts()};
}

std::vector<LedgerRow> ledger_rows(const checkpoint::TrajectoryReader& reader, GlobalIndex last,
                                   const LedgerRow& like) {
  std::vector<LedgerRow> rows;
  for (GlobalIndex id = 1; id <= last; ++id) {
    const stepping::StepRecord& record = reader.records()[id];
    if (!record.completes_nominal) continue;
    const RunState stored = run_state_from_json(reader.extra(id));
    LedgerRow& row = rows.emplace_back(like);
    row.step = record.nominal_step;
    row.time = record.time;
    for (stepping::Entry& energy : row.balance.energies) set(energy, stored.restart.entries, energy.name);
    for (stepping::Entry& momentum : row.balance.momenta)
      set(momentum, stored.restart.entries, stepping::momentum_name(momentum.name));
    for (stepping::Entry& count : row.counts) set(count, stored.counts, count.name);
  }
  return rows;
}

LedgerTable::LedgerTable(std::filesystem::path file, const LedgerRow& like, std::span<const LedgerRow> rows)
    : file_(std::move(file)) {
  std::string text = head(like);
  for (const LedgerRow& row : rows) text += line_of(row);
  write_file_atomically(file_, text);
}

void LedgerTable::add(const LedgerRow& row) {
  std::ofstream out(file_, std::ios::app);
  out << line_of(row);
  if (!out.flush()) throw FileError(file_.string() + ": cannot add a row; is the disk full?");
}

} // namespace recoil::app
