#include "app/simulation/summary.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

void write_summary(const std::filesystem::path& path, const Summary& summary) {
  const auto& totals = summary.totals;
  const auto& ledger = summary.ledger;
  nlohmann::ordered_json json;
  json["status"] = summary.status;
  if (!summary.message.empty()) json["message"] = summary.message;
  json["steps"] = summary.steps;
  json["time"] = summary.time;
  json["dofs"] = summary.dofs;
  json["vertices"] = summary.vertices;
  json["elements"] = summary.elements;
  json["ranks"] = summary.ranks;
  json["wall_s"] = summary.wall_seconds;
  json["newton_iterations"] = totals.newton_iterations;
  json["chord_steps"] = totals.chord_steps;
  json["linear_iterations"] = totals.linear_iterations;
  json["sub_moves"] = totals.sub_moves;
  json["motion_solves"] = totals.motion_solves;
  json["projected_iterations"] = totals.projected;
  json["retried_steps"] = totals.retries;
  json["assembly_s"] = totals.assembly_seconds + totals.gradient_seconds;
  json["linear_solve_s"] = totals.linear_solve_seconds;
  json["line_search_s"] = totals.line_search_seconds;
  json["collision_s"] = totals.collision_seconds;
  json["io_s"] = summary.io_seconds;
  json["peak_memory_mb"] = {{"max", summary.peak_memory_max_mb}, {"sum", summary.peak_memory_sum_mb}};
  for_each_entry(totals.contact, [&](const char* name, auto value) { json[name] = value; });
  // No pair was ever closer than dhat.
  if (std::isinf(totals.contact.min_distance)) json["min_distance"] = nullptr;
  for_each_energy(ledger, [&](const char* name, double energy) { json["energies"][name] = energy; });
  for_each_momentum(ledger, [&](const char* name, const auto& p) { json["momentum"][name] = p; });
  json["repeatable"] = summary.repeatable;
  json["linear_solver"] = summary.linear_solver;
  json["err_l2"] = summary.norms.l2;
  json["err_h1"] = summary.norms.h1;
  json["err_h1_semi"] = summary.norms.h1_semi;
  json["err_linf"] = summary.norms.linf;
  json["err_lp"] = summary.norms.l8;
  json["version"] = version();
  write_file_atomically(path, json.dump(1) + "\n");
}

} // namespace recoil::app
