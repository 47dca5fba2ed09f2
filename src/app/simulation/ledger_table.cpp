#include "app/simulation/ledger_table.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

constexpr const char* head = "step,time,kinetic,elastic,barrier,external_work,dissipated_friction,dissipated_"
                             "damping,dissipated_integrator,"
                             "linear_x,linear_y,linear_z,angular_x,angular_y,angular_z,newton,linear_"
                             "iterations,active_pairs,min_distance,sticking,sliding\n";

/// The rows up to `last_step`; the rest belongs to a future that did not survive.
std::string rows_up_to(const std::filesystem::path& file, GlobalIndex last_step) {
  std::ifstream in(file);
  std::string kept, line;
  for (bool is_head = true; std::getline(in, line); is_head = false) {
    if (is_head) continue;
    GlobalIndex step = 0;
    if (!(std::istringstream(line) >> step) || step > last_step) break;
    kept += line + '\n';
  }
  return kept;
}

} // namespace

LedgerTable::LedgerTable(std::filesystem::path file, GlobalIndex last_step) : file_(std::move(file)) {
  write_file_atomically(file_, head + rows_up_to(file_, last_step));
}

void LedgerTable::add(GlobalIndex step, double time, const solvers::Ledger& ledger,
                      const solvers::StepReport& report) {
  const auto& p = ledger.linear_momentum;
  const auto& L = ledger.angular_momentum;
  const std::string distance =
      std::isfinite(report.min_distance) ? fmt::format("{:.9g}", report.min_distance) : std::string();
  std::ofstream out(file_, std::ios::app);
  out << fmt::format("{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},"
                     "{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{},{},{}\n",
                     step, time, ledger.kinetic, ledger.elastic, ledger.barrier, ledger.external_work,
                     ledger.dissipated_friction, ledger.dissipated_damping, ledger.dissipated_integrator,
                     p[0], p[1], p[2], L[0], L[1], L[2], report.newton_iterations, report.linear_iterations,
                     report.active_pairs, distance, report.friction.sticking, report.friction.sliding);
  if (!out.flush()) throw FileError(file_.string() + ": cannot add a row; is the disk full?");
}

} // namespace recoil::app
