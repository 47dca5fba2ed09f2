#include "app/simulation/ledger_table.hpp"

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

constexpr const char* head = "step,time,kinetic,elastic,barrier,external_work,dissipated_friction,dissipated_"
                             "damping,dissipated_integrator,"
                             "linear_x,linear_y,linear_z,angular_x,angular_y,angular_z,newton,linear_"
                             "iterations,active_pairs,min_distance,sticking,sliding\n";

std::string line_of(const LedgerRow& row) {
  const auto& [step, time, ledger, counts] = row;
  const auto& p = ledger.linear_momentum;
  const auto& L = ledger.angular_momentum;
  const std::string distance =
      std::isfinite(counts.min_distance) ? fmt::format("{:.9g}", counts.min_distance) : std::string();
  return fmt::format("{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},"
                     "{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{},{},{}\n",
                     step, time, ledger.kinetic, ledger.elastic, ledger.barrier, ledger.external_work,
                     ledger.dissipated_friction, ledger.dissipated_damping, ledger.dissipated_integrator,
                     p[0], p[1], p[2], L[0], L[1], L[2], counts.newton_iterations, counts.linear_iterations,
                     counts.active_pairs, distance, counts.friction.sticking, counts.friction.sliding);
}

} // namespace

std::vector<LedgerRow> ledger_rows(std::span<const checkpoint::StateRecord> records) {
  std::vector<LedgerRow> rows;
  for (const checkpoint::StateRecord& record : records)
    if (record.step && *record.step > 0) {
      const RunState state = run_state_from_json(record.extra);
      rows.push_back({*record.step, record.time, state.ledger, state.counts.value_or(StepCounts())});
    }
  return rows;
}

LedgerTable::LedgerTable(std::filesystem::path file, std::span<const LedgerRow> rows)
    : file_(std::move(file)) {
  std::string text = head;
  for (const LedgerRow& row : rows) text += line_of(row);
  write_file_atomically(file_, text);
}

void LedgerTable::add(const LedgerRow& row) {
  std::ofstream out(file_, std::ios::app);
  out << line_of(row);
  if (!out.flush()) throw FileError(file_.string() + ": cannot add a row; is the disk full?");
}

} // namespace recoil::app
