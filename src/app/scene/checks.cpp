#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "recoil/app/scene/build.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

template <class Value>
bool holds(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

void check_names(const Scene& scene) {
  std::map<std::string, std::string> seen;
  const auto once = [&](const std::string& name, const std::string& where) {
    if (name.empty()) throw InputError(where, "a body needs a name that is not empty");
    if (const auto [it, fresh] = seen.emplace(name, where); !fresh)
      throw InputError(where,
                       "the name '" + name + "' is taken already by " + it->second + "; give another `name`");
  };
  for (const auto& spec : scene.geometry) once(spec.name, spec.where);
  for (const auto& plane : scene.planes) once(plane.name, plane.where);
}

void check_bodies(const Scene& scene) {
  for (const auto& material : scene.materials)
    for (const auto& body : material.bodies) check_body(scene, body, material.where);
  const auto check_region = [&](const Region& region) {
    for (const auto& body : region.bodies) check_body(scene, body, region.where);
  };
  const auto& initial = scene.initial_conditions;
  for (const auto* fields : {&initial.velocity, &initial.solution, &initial.acceleration})
    for (const auto& field : *fields) check_region(field.region);
  for (const auto& spin : initial.angular_velocity) check_region(spin.region);
}

std::set<int> obstacle_ids(const Scene& scene) {
  std::set<int> ids;
  for (const auto& spec : scene.geometry)
    if (spec.obstacle_id) ids.insert(*spec.obstacle_id);
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
  for (const auto& entry : conditions.neumann)
    for (const int id : entry.ids)
      if (id <= 0) carries_none(id, entry.where);
  for (const auto* list : {&conditions.normal_aligned_neumann, &conditions.pressure})
    for (const auto& entry : *list)
      for (const int id : entry.ids)
        if (id <= 0) carries_none(id, entry.where);
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
  for (const PressureEntry& entry : conditions.pressure)
    if (is_list(entry)) require_every_step(entry, scene.time);
}

/// PolyFEM has one pair of damping constants, the last that it reads, and drops it unless both are positive.
void check_polyfem_damping(const Scene& scene) {
  struct Pair {
    double phi, psi;
  };
  const auto constant = [](const MaterialEntry& entry, const MaterialValue& value) {
    const auto* formula = std::get_if<Expression>(&value);
    if (formula == nullptr || !formula->is_constant())
      throw InputError(entry.where, "with \"conventions\": \"polyfem\" `phi` and `psi` must be numbers");
    return (*formula)({});
  };
  std::optional<Pair> first;
  for (const MaterialEntry& entry : scene.materials) {
    const Pair pair{constant(entry, entry.phi), constant(entry, entry.psi)};
    if ((pair.phi > 0) != (pair.psi > 0))
      throw InputError(entry.where,
                       "PolyFEM leaves damping out unless `phi` and `psi` are both positive; with "
                       "\"conventions\": \"polyfem\" write both or neither");
    if (!first) first = pair;
    if (pair.phi != first->phi || pair.psi != first->psi)
      throw InputError(entry.where,
                       "PolyFEM has one `phi` and one `psi` for all bodies; with \"conventions\": "
                       "\"polyfem\" write the same in every material");
  }
}

} // namespace

void check_body(const Scene& scene, const std::string& body, const std::string& where) {
  const auto bodies = deformable_names(scene);
  if (holds(bodies, body)) return;
  if (holds(obstacle_names(scene), body))
    throw InputError(where, "'" + body + "' is an obstacle, here a deformable body is meant");
  throw InputError(where, "there is no body '" + body + "'" + did_you_mean(body, bodies));
}

void check_scene(const Scene& scene) {
  const auto& file = scene.file.string();
  if (deformable_names(scene).empty())
    throw InputError(file + " (/geometry)",
                     "has no deformable body: every entry is an obstacle or not enabled");
  check_names(scene);
  if (scene.materials.empty())
    throw InputError(file + " (/materials)",
                     "there is no material; body '" + deformable_names(scene).front() + "' needs one");
  check_bodies(scene);
  check_boundary_ids(scene);
  check_time_reference(scene);
  if (scene.conventions == Conventions::polyfem) check_polyfem_damping(scene);
  if (scene.solver.lump_mass_matrix)
    for (const auto& body : deformable_names(scene))
      if (order_of_body(scene, body) > 1)
        throw InputError(
            file + " (/solver/advanced/lump_mass_matrix)",
            "needs order 1, body '" + body + "' has order " + std::to_string(order_of_body(scene, body)) +
                " (row sums of higher orders are zero or negative); set it to false or discr_order to 1");
}

} // namespace recoil::app
