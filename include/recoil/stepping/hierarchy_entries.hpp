#pragma once

#include "recoil/linalg/linear_solver.hpp"
#include "recoil/stepping/solver.hpp"

namespace recoil::stepping {

namespace hierarchy_entries {
inline constexpr const char *renewal = "hierarchy_renewal", *key = "hierarchy_key",
                            *iterations = "hierarchy_iterations",
                            *iterations_in_contact = "hierarchy_iterations_in_contact",
                            *factors = "hierarchy_factors";
} // namespace hierarchy_entries

/// Adds what a restart must know of a hierarchy of multigrid that lasts, where there is one.
inline void add_hierarchy(const linalg::HierarchyRecord& record, Entries& entries) {
  if (record.key == 0 && record.at_start == linalg::HierarchyRecord{}.at_start && !record.prefers_factors)
    return;
  entries.push_back({hierarchy_entries::renewal, static_cast<GlobalIndex>(record.at_start)});
  entries.push_back({hierarchy_entries::key, record.key});
  entries.push_back({hierarchy_entries::iterations, record.iterations_per_digit});
  entries.push_back({hierarchy_entries::iterations_in_contact, record.iterations_per_digit_with_stiff_terms});
  if (record.prefers_factors) entries.push_back({hierarchy_entries::factors, GlobalIndex{1}});
}

/// The record that add_hierarchy() wrote; without one that of a run that begins. Restart points of earlier
/// versions do not tell the iterations in contact. @throws FileError if another part of it is missing.
inline linalg::HierarchyRecord read_hierarchy(const Entries& entries) {
  const GlobalIndex renewal = count_of(entries, hierarchy_entries::renewal);
  if (renewal == 0) return {};
  linalg::HierarchyRecord record{.key = value_of<double>(entries, hierarchy_entries::key),
                                 .iterations_per_digit =
                                     value_of<double>(entries, hierarchy_entries::iterations),
                                 .at_start = static_cast<linalg::Renewal>(renewal)};
  for (const Entry& entry : entries) {
    record.prefers_factors = record.prefers_factors || entry.name == hierarchy_entries::factors;
    if (entry.name == hierarchy_entries::iterations_in_contact)
      record.iterations_per_digit_with_stiff_terms =
          value_of<double>(entries, hierarchy_entries::iterations_in_contact);
  }
  return record;
}

} // namespace recoil::stepping
