#include "recoil/app/simulation/ledger_table.hpp"

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

std::string head() {
  std::string line = "step,time";
  const LedgerRow row;
  for_each_energy(row.ledger, [&](const char* name, double) { line += fmt::format(",{}", name); });
  for_each_momentum(row.ledger,
                    [&](const char* name, const auto&) { line += fmt::format(",{0}_x,{0}_y,{0}_z", name); });
  for_each_count(row.counts, [&](const char* name, auto) { line += fmt::format(",{}", name); });
  return line + "\n";
}

std::string line_of(const LedgerRow& row) {
  std::string line = fmt::format("{},{:.17g}", row.step, row.time);
  for_each_energy(row.ledger, [&](const char*, double energy) { line += fmt::format(",{:.17g}", energy); });
  for_each_momentum(row.ledger, [&](const char*, const auto& p) {
    line += fmt::format(",{:.9g},{:.9g},{:.9g}", p[0], p[1], p[2]);
  });
  for_each_count(row.counts, [&](const char*, auto count) {
    if constexpr (std::is_integral_v<decltype(count)>)
      line += fmt::format(",{}", count);
    else
      line += std::isfinite(count) ? fmt::format(",{:.9g}", count) : ",";
  });
  return line + "\n";
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
  std::string text = head();
  for (const LedgerRow& row : rows) text += line_of(row);
  write_file_atomically(file_, text);
}

void LedgerTable::add(const LedgerRow& row) {
  std::ofstream out(file_, std::ios::app);
  out << line_of(row);
  if (!out.flush()) throw FileError(file_.string() + ": cannot add a row; is the disk full?");
}

} // namespace recoil::app
