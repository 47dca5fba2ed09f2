#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/read_scene.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

void check_names(const Scene& scene) {
  std::map<std::string, std::string> seen;
  const auto once = [&](const std::string& name, const std::string& where) {
    if (name.empty()) throw InputError(where, "a body needs a name that is not empty");
    if (std::ranges::any_of(name, [](unsigned char c) { return std::iscntrl(c) != 0; }))
      throw InputError(where, "the `name` has line breaks or other control characters; leave them out");
    if (const auto [it, fresh] = seen.emplace(name, where); !fresh)
      throw InputError(where,
                       "the name '" + name + "' is taken already by " + it->second + "; give another `name`");
  };
  for (const auto& spec : scene.geometry) once(spec.name, spec.where);
  for (const auto& plane : scene.planes) once(plane.name, plane.where);
}

void check_bodies(const Scene& scene) {
  for (const Region* region : scene.initial_conditions.regions())
    for (const auto& body : region->bodies) check_body(scene, body, region->where);
}

std::set<int> obstacle_ids(const Scene& scene) {
  std::set<int> ids;
  for (const auto& spec : scene.geometry)
    if (spec.obstacle_id) ids.insert(*spec.obstacle_id);
  for (const auto& plane : scene.planes)
    if (plane.id) ids.insert(*plane.id);
  return ids;
}

void check_boundary_ids(const Scene& scene) {
  const auto obstacles = obstacle_ids(scene);
  const auto& conditions = scene.boundary_conditions;
  const auto carries_none = [](int id, const std::string& where) {
    throw InputError(
        where, "id " + std::to_string(id) +
                   ": ids of boundary conditions on bodies start at 1; facets with id 0 or less carry none");
  };
  for (const auto& entry : conditions.dirichlet)
    for (const int id : entry.ids)
      if (id <= 0 && !obstacles.contains(id)) carries_none(id, entry.where);
  for (const auto& entry : conditions.obstacle_displacements)
    for (const int id : entry.ids)
      if (!obstacles.contains(id))
        throw InputError(entry.where, "no obstacle has the id " + std::to_string(id) +
                                          "; an obstacle gets its id from an integer `surface_selection`");
  for (const IdUse& load : loads_on_ids(scene))
    for (const int id : load.ids)
      if (id <= 0) carries_none(id, load.where);
}

template <class Entry>
void require_every_step(const Entry& entry, const TimeSpec& time) {
  for (int n = 1; n <= time.steps; ++n)
    if (const double t = time.time_of_step(n); !entry.is_listed(t))
      throw InputError(entry.where, "`time_reference` has no entry for step " + std::to_string(n) +
                                        " at t = " + std::to_string(t) +
                                        "; every step must be in it, times rounded to 1e-3 s");
}

void check_time_reference(const Scene& scene) {
  const BoundaryConditions& conditions = scene.boundary_conditions;
  const auto is_list = [](const auto& value) { return !value.per_time.empty(); };
  for (const auto* list : {&conditions.dirichlet, &conditions.obstacle_displacements})
    for (const DirichletEntry& entry : *list)
      if (std::ranges::any_of(entry.value, is_list)) require_every_step(entry, scene.time);
  for (const auto* list : conditions.normal_loads())
    for (const PressureEntry& entry : *list)
      if (is_list(entry)) require_every_step(entry, scene.time);
}

} // namespace

void check_body(const Scene& scene, const std::string& body, const std::string& where) {
  const auto bodies = deformable_names(scene);
  if (std::ranges::count(bodies, body) > 0) return;
  if (std::ranges::count(obstacle_names(scene), body) > 0)
    throw InputError(where, "'" + body + "' is an obstacle, here a deformable body is meant");
  throw InputError(where, "there is no body '" + body + "'" + did_you_mean(body, bodies));
}

std::vector<IdUse> loads_on_ids(const Scene& scene) {
  const BoundaryConditions& conditions = scene.boundary_conditions;
  std::vector<IdUse> uses;
  for (const TractionEntry& entry : conditions.neumann) uses.push_back({entry.ids, entry.where});
  for (const auto* list : conditions.normal_loads())
    for (const PressureEntry& entry : *list) uses.push_back({entry.ids, entry.where});
  return uses;
}

void check_scene(const Scene& scene) {
  const auto& file = scene.file.string();
  if (deformable_names(scene).empty())
    throw InputError(file + " (/geometry)",
                     "has no deformable body: every entry is an obstacle or not enabled");
  check_names(scene);
  check_bodies(scene);
  check_boundary_ids(scene);
  check_time_reference(scene);
}

void check_output_fields(const Scene& scene) {
  if (scene.contact.enabled) return;
  for (const auto field : scene.output.fields)
    if (field == OutputField::contact_force || field == OutputField::friction_force)
      throw InputError(scene.file.string() + " (/output/fields)",
                       "contact_force and friction_force need contact: set contact/enabled to true");
}

} // namespace recoil::app
