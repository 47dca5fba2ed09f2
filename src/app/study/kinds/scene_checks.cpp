#include "app/study/kinds/scene_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/elastodynamics/build_contact.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

namespace recoil::app {
namespace {

bool is_zero_formula(const Expression& formula) { return formula.is_constant() && formula({}) == 0; }

std::vector<Varying> dependence(const std::vector<Expression>& value, const std::string& where,
                                bool (Expression::*depends)() const) {
  std::vector<Varying> found;
  for (const Expression& formula : value)
    if ((formula.*depends)()) found.push_back({formula.text(), where});
  return found;
}

void append(std::vector<Varying>& all, std::vector<Varying> more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<Varying> position_dependence_of_loads(const Scene& scene, const KnownIds& facets) {
  const auto& conditions = scene.boundary_conditions;
  const auto acts = [&](const auto& entry) {
    return entry.all || std::ranges::any_of(entry.ids, [&](int id) { return facets.may_hold(id); });
  };
  auto found =
      position_dependence(formulas_of(conditions.rhs), scene.file.string() + " (/boundary_conditions/rhs)");
  for (const TractionEntry& entry : conditions.neumann)
    if (acts(entry)) append(found, position_dependence(entry.value, entry.where));
  for (const auto* list : conditions.normal_loads())
    for (const PressureEntry& entry : *list)
      if (acts(entry)) append(found, position_dependence(entry.formulas(), entry.where));
  for (const DirichletEntry& entry : conditions.dirichlet)
    if (acts(entry)) append(found, position_dependence(entry));
  return found;
}

std::vector<Varying> position_dependence_of_body(const Scene& scene, const mesh::GeometrySpec& body) {
  auto found = position_dependence_of_loads(scene, surface_ids(body));
  for (const MaterialEntry* entry : possible_materials(scene, body, {}))
    for (const MaterialValue* value : entry->values())
      if (depends_on_position(*value)) found.push_back({std::get<Expression>(*value).text(), entry->where});
  if (is_static(scene)) return found;
  if (const auto& stored = elements_of(scene).stored) found.push_back({stored->run.string(), stored->where});
  const auto& initial = scene.initial_conditions;
  for (const auto* fields : {&initial.velocity, &initial.solution, &initial.acceleration})
    for (const InitialField& field : *fields)
      if (may_overlap(field.region, scene, {body.name}, {}))
        append(found, position_dependence(field.value, field.region.where));
  return found;
}

} // namespace

const mesh::GeometrySpec* find_geometry(const Scene& scene, const std::string& name) {
  const auto found = std::ranges::find(scene.geometry, name, &mesh::GeometrySpec::name);
  return found == scene.geometry.end() ? nullptr : &*found;
}

std::vector<std::string> mesh_obstacle_names(const Scene& scene) {
  std::vector<std::string> names;
  for (const mesh::GeometrySpec& body : scene.geometry)
    if (body.is_obstacle) names.push_back(body.name);
  return names;
}

std::vector<const MaterialEntry*> possible_materials(const Scene& scene, const mesh::GeometrySpec& body,
                                                     const std::vector<int>& regions) {
  std::vector<const MaterialEntry*> possible;
  const auto add = [&](const MaterialEntry* entry) {
    if (entry && !holds(possible, entry)) possible.push_back(entry);
  };
  const KnownIds known = volume_ids(body);
  for (const int id : regions)
    if (known.may_hold(id)) add(find_material(scene, body.name, id));
  if (!regions.empty()) return possible;
  for (const int id : known.ids) add(find_material(scene, body.name, id));
  if (!known.complete)
    for (const MaterialEntry& entry : elements_of(scene).materials)
      if (entry.everywhere || !entry.ids.empty() || holds(entry.bodies, body.name)) add(&entry);
  return possible;
}

bool may_overlap(const Region& region, const Scene& scene, const std::vector<std::string>& bodies,
                 const std::vector<int>& regions) {
  return std::ranges::any_of(scene.geometry, [&](const mesh::GeometrySpec& body) {
    if (body.is_obstacle || !(bodies.empty() || holds(bodies, body.name))) return false;
    if (holds(region.bodies, body.name)) return true;
    const KnownIds known = volume_ids(body);
    return std::ranges::any_of(
        region.ids, [&](int id) { return known.may_hold(id) && (regions.empty() || holds(regions, id)); });
  });
}

const DirichletEntry* find_motion_of(const Scene& scene, const mesh::GeometrySpec& obstacle) {
  return obstacle.obstacle_id ? find_obstacle_motion(scene.boundary_conditions, *obstacle.obstacle_id)
                              : nullptr;
}

bool depends_on_position(const MaterialValue& value) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula && formula->depends_on_position();
}

bool is_zero(const MaterialValue& value) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula && is_zero_formula(*formula);
}

bool has_body_force(const Scene& scene) {
  return std::ranges::any_of(scene.gravity, [](double g) { return g != 0; }) ||
         !std::ranges::all_of(scene.boundary_conditions.rhs, is_zero);
}

bool has_damping(const Scene& scene) {
  return std::ranges::any_of(elements_of(scene).materials, [](const MaterialEntry& entry) {
    return !is_zero(entry.phi) || !is_zero(entry.psi);
  });
}

std::vector<Expression> formulas_of(const std::vector<MaterialValue>& values) {
  std::vector<Expression> formulas;
  for (const MaterialValue& value : values)
    if (const auto* formula = std::get_if<Expression>(&value)) formulas.push_back(*formula);
  return formulas;
}

std::vector<Varying> position_dependence(const std::vector<Expression>& value, const std::string& where) {
  return dependence(value, where, &Expression::depends_on_position);
}

std::vector<Varying> time_dependence(const std::vector<Expression>& value, const std::string& where) {
  return dependence(value, where, &Expression::depends_on_time);
}

std::vector<Varying> position_dependence(const DirichletEntry& entry) {
  std::vector<Varying> found;
  for (const ComponentValue& component : entry.value) {
    if (!component.constrained) continue;
    append(found, position_dependence({component.value}, entry.where));
    append(found, position_dependence(component.per_time, entry.where));
  }
  return found;
}

std::vector<Varying> time_dependence(const DirichletEntry& entry) {
  std::vector<Varying> found;
  for (const ComponentValue& component : entry.value) {
    if (!component.constrained) continue;
    append(found, time_dependence({component.value}, entry.where));
    if (!component.per_time.empty()) found.push_back({"a list of values per time", entry.where});
  }
  return found;
}

std::vector<Varying> time_dependence(const PressureEntry& entry) {
  if (!entry.per_time.empty()) return {{"a list of values per time", entry.where}};
  return time_dependence({entry.value}, entry.where);
}

std::vector<Varying> position_dependence(const Scene& scene, const std::vector<std::string>& moved) {
  std::vector<Varying> found;
  for (const std::string& name : moved)
    append(found, position_dependence_of_body(scene, *find_geometry(scene, name)));
  return found;
}

std::string quoted(const Varying& varying) { return "'" + varying.formula + "' at " + varying.where; }

std::vector<const mesh::GeometrySpec*> bodies_of(const ExperimentScene& at, const ParameterSpec& parameter) {
  std::vector<const mesh::GeometrySpec*> bodies;
  for (const mesh::GeometrySpec& body : at.scene.geometry)
    if (!body.is_obstacle && parameter.takes_body(body.name)) bodies.push_back(&body);
  return bodies;
}

void require_bodies_and_regions(const ExperimentScene& at, const ParameterSpec& parameter) {
  require_deformable(at, parameter.bodies, parameter.where.of("body"));
  const auto bodies = bodies_of(at, parameter);
  for (const int id : parameter.regions) {
    std::set<int> known;
    const bool found = std::ranges::any_of(bodies, [&](const mesh::GeometrySpec* body) {
      const KnownIds ids = volume_ids(*body);
      known.insert(ids.ids.begin(), ids.ids.end());
      return ids.may_hold(id) && find_material_index(at.scene, body->name, id) >= 0;
    });
    if (!found)
      at.fail(parameter.where, "region",
              "no element of these bodies has the volume id " + std::to_string(id) +
                  " and a material; ids there: " + list_of(known));
  }
}

void refuse_incompressible(const ParameterSpec& parameter, const std::string& whose) {
  const auto refuse = [&](const char* key, const char* what) {
    throw InputError(parameter.where.of(key), std::string("poisson_ratio ") + what + " 0.5, and " + whose +
                                                  " needs one below it; take 0.499, say");
  };
  if (std::ranges::any_of(parameter.initial, [](double value) { return value >= 0.5; }))
    refuse("initial", "starts at");
  if (const auto bounds = parameter.bounds_of(0);
      bounds && (*bounds)[1] >= 0.5 && parameter.scale.form != &parameters::Scaling::logit)
    refuse("bounds", "may become");
}

void require_contact(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (!at.scene.contact.enabled)
    at.fail(parameter, std::string(parameter.kind->name) +
                           " is not used: contact is off; set contact/enabled to true in " +
                           at.scene.file.string() + ", or drop the parameter");
}

void require_sliding(const ExperimentScene& at, const ParameterSpec& parameter) {
  if (at.scene.contact.friction_iterations == 0)
    at.fail(parameter, std::string(parameter.kind->name) +
                           " is switched off by solver/contact/friction_iterations = 0 in " +
                           at.scene.file.string() + "; use 1 or -1");
}

bool may_turn(const ExperimentScene& at, const ParameterSpec& other, const std::string& body) {
  return other.kind->turns_bodies && other.acts_in(at.index) && other.takes_body(body);
}

void refuse_replaced(const ExperimentScene& at, const ParameterSpec& parameter,
                     const std::vector<Varying>& varying, const std::string& how) {
  if (varying.empty()) return;
  at.fail(parameter,
          "'" + parameter.name + "' would replace " + quoted(varying.front()) + ", which varies in " + how);
}

} // namespace recoil::app
