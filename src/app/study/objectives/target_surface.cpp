#include "app/study/objectives/target_option.hpp"

namespace recoil::app {
namespace {

void read_surface(const Item& entry, TargetPart& part) {
  const bool is_written = entry.has("over");
  if (is_written && entry["over"].text() == "volume" && entry.has("boundary"))
    entry["boundary"].fail("is for a difference over the boundary; leave `over`, or `boundary`, out");
  if (entry.has("boundary") || (is_written && entry["over"].text() == "boundary"))
    part.facets = facets_of(entry);
}

void check_surface(const TargetPart& part, const ObjectiveSpec& spec, const ExperimentScene& at) {
  if (part.facets) require_surface_ids(at, spec, *part.facets);
}

} // namespace

/// Over boundary facets, by surface ids, in place of the volume.
TargetOption target_over_surface() {
  return {.keys = {{.pattern = "/objectives/*/over",
                    .types = text,
                    .implied = "`volume`",
                    .choices = "[\"volume\", \"boundary\"]",
                    .doc = "Where the difference is integrated; with `boundary` it is over its facets."},
                   boundary_key},
          .read = read_surface,
          .check = check_surface};
}

} // namespace recoil::app
