#include <algorithm>
#include <map>

#include "recoil/app/scene/build.hpp"

namespace recoil::app {
namespace {

TimeFactor build_factor(const Item& item) {
  static const std::map<std::string, TimeFactor::Kind> kinds = {
      {"none", TimeFactor::Kind::none},
      {"linear", TimeFactor::Kind::linear},
      {"linear_ramp", TimeFactor::Kind::linear_ramp},
      {"piecewise_constant", TimeFactor::Kind::piecewise_constant},
      {"piecewise_linear", TimeFactor::Kind::piecewise_linear}};
  const auto type = item.is_text() ? item.text() : item["type"].text();
  const auto it = kinds.find(type);
  if (it == kinds.end())
    item.fail(
        "interpolation must be none, linear, linear_ramp, piecewise_constant or piecewise_linear, is \"" +
        type + "\"");
  TimeFactor factor;
  factor.kind = it->second;
  const bool ramp = factor.kind == TimeFactor::Kind::linear_ramp;
  const bool piecewise = factor.kind == TimeFactor::Kind::piecewise_constant ||
                         factor.kind == TimeFactor::Kind::piecewise_linear;
  for (const char* name : {"from", "to"})
    if (item.is_object() && item.has(name) && !ramp)
      item[name].fail("belongs to linear_ramp, not to " + type);
  for (const char* name : {"points", "values"})
    if (item.is_object() && item.has(name) != piecewise)
      item.fail(piecewise ? type + " needs `points` and `values`"
                          : "`" + std::string(name) + "` does not belong to " + type);
  if ((ramp || piecewise) && item.is_text()) item.fail("\"" + type + "\" needs parameters: write an object");
  if (ramp) {
    if (!item.has("to")) item.fail("linear_ramp needs `to`");
    factor.from = item.has("from") ? item["from"].number() : 0.0;
    factor.to = item["to"].number();
    if (!(factor.to > factor.from)) item["to"].fail("must be after `from`");
  }
  if (piecewise) {
    factor.points = item["points"].numbers();
    factor.values = item["values"].numbers();
    if (factor.points.size() != factor.values.size())
      item["values"].fail("has " + std::to_string(factor.values.size()) + " entries, `points` has " +
                          std::to_string(factor.points.size()));
    if (std::adjacent_find(factor.points.begin(), factor.points.end(), std::greater_equal<>()) !=
        factor.points.end())
      item["points"].fail("must be ascending");
  }
  return factor;
}

} // namespace

std::vector<TimeFactor> build_factors(const Item& entry, std::size_t components, const char* key) {
  std::vector<TimeFactor> factors;
  if (!entry.has(key)) return factors;
  for (const auto& item : entry[key].items()) factors.push_back(build_factor(item));
  if (factors.size() > 1 && factors.size() != components)
    entry[key].fail("needs one entry for all components or one per component, has " +
                    std::to_string(factors.size()) + " for " + std::to_string(components) + " components");
  return factors;
}

namespace {

/// A formula, or one per time of the entry.
template <class Built>
void build_value(const Item& item, const Item& entry, const char* without_times, Built& built,
                 const std::vector<double>& times) {
  if (!item.is_list()) {
    built.value = item.expression();
    return;
  }
  built.per_time = item.expressions();
  if (!entry.has("time_reference"))
    item.fail("a list of values per time needs `time_reference`, the times" + std::string(without_times));
  if (built.per_time.size() != times.size())
    item.fail("has " + std::to_string(built.per_time.size()) + " values, `time_reference` has " +
              std::to_string(times.size()) + " times");
}

/// The number of components that the entry gives; where it gives none 3, of which d are kept later.
std::size_t num_components_of(const Item& entry) {
  for (const char* list : {"dimension", "interpolation"})
    if (entry.has(list) && entry[list].items().size() > 1) return entry[list].items().size();
  return 3;
}

void build_components(const Item& entry, DirichletEntry& built) {
  const Item value = entry["value"];
  if (value.is_object()) {
    built.nodal = NodalData{value["file"].text(), value["dataset"].text()};
    built.value.resize(num_components_of(entry));
    if (entry.has("time_reference"))
      entry["time_reference"].fail(
          "belongs to lists of values per time; values per node change in time by an "
          "`interpolation`");
  } else {
    for (const auto& component : value.items())
      build_value(component, entry,
                  "; for one number per vertex of an obstacle write a formula of x, y, z, t",
                  built.value.emplace_back(), built.time_reference);
  }
  if (!entry.has("dimension")) return;
  const auto dimension = entry["dimension"].items();
  if (dimension.size() != built.value.size())
    entry["dimension"].fail("has " + std::to_string(dimension.size()) + " entries, `value` has " +
                            std::to_string(built.value.size()));
  for (std::size_t i = 0; i < dimension.size(); ++i) built.value[i].constrained = dimension[i].flag();
}

DirichletEntry build_prescribed(const Item& entry, bool obstacle, Scene& scene) {
  DirichletEntry built;
  built.where = entry.where();
  built.start_time = scene.time.t0;
  if (entry.is_text()) {
    built.node_file = entry.text();
    return built;
  }
  const auto id = entry["id"];
  if (id.is_text()) {
    if (id.text() != "all") id.fail("must be an integer, a list of integers or \"all\", is " + id.dump());
    built.all = true;
  } else {
    built.ids = id.integers();
  }
  if (entry.has("time_reference")) built.time_reference = entry["time_reference"].numbers();
  build_components(entry, built);
  built.interpolation = build_factors(entry, built.value.size());
  if (obstacle) {
    if (built.nodal)
      entry["value"].fail(
          "obstacles have no nodes of the space and move as formulas say: write one per component");
    if (entry.has("dimension")) {
      scene.warnings.push_back(entry["dimension"].where() + ": has no effect on obstacles");
      for (auto& component : built.value) component.constrained = true;
    }
  }
  return built;
}

/// PolyFEM takes the first of two entries with one id in silence.
void refuse_repeated_id(const Item& entry, const std::vector<int>& ids, std::map<int, std::string>& seen) {
  for (const int id : ids)
    if (const auto [it, fresh] = seen.emplace(id, entry.where()); !fresh)
      entry.fail("id " + std::to_string(id) + " has a value already, at " + it->second +
                 "; keep one entry per id");
}

std::vector<DirichletEntry> build_prescribed_list(const Item& list, bool obstacle, Scene& scene) {
  std::vector<DirichletEntry> built;
  std::map<int, std::string> seen;
  for (const auto& entry : list.items()) {
    built.push_back(build_prescribed(entry, obstacle, scene));
    if (built.back().all && list.size() > 1) entry["id"].fail("\"all\" must be the only entry");
    refuse_repeated_id(entry, built.back().ids, seen);
  }
  return built;
}

std::vector<PressureEntry> build_pressures(const Item& list, double start_time) {
  std::vector<PressureEntry> built;
  std::map<int, std::string> seen;
  for (const auto& entry : list.items()) {
    PressureEntry pressure;
    pressure.ids = entry["id"].integers();
    if (entry.has("time_reference")) pressure.time_reference = entry["time_reference"].numbers();
    pressure.start_time = start_time;
    build_value(entry["value"], entry, "", pressure, pressure.time_reference);
    pressure.interpolation = build_factors(entry, 1);
    pressure.where = entry.where();
    refuse_repeated_id(entry, pressure.ids, seen);
    built.push_back(std::move(pressure));
  }
  return built;
}

Region build_region(const Item& entry) {
  Region region;
  region.where = entry.where();
  if (entry.has("id") == entry.has("body"))
    entry.fail("needs `id` (volume ids) or `body` (names), one of them");
  if (entry.has("id")) region.ids = entry["id"].integers();
  if (entry.has("body")) region.bodies = entry["body"].texts();
  return region;
}

std::vector<InitialField> build_fields(const Item& list) {
  std::vector<InitialField> fields;
  for (const auto& entry : list.items()) {
    const auto value = entry["value"];
    InitialField& field = fields.emplace_back();
    field.region = build_region(entry);
    if (value.is_object())
      field.nodes = NodalData{value["file"].text(), value["dataset"].text()};
    else
      field.value = value.expressions();
  }
  return fields;
}

} // namespace

void build_boundary_conditions(const Item& root, Scene& scene) {
  const auto given = root["boundary_conditions"];
  auto& conditions = scene.boundary_conditions;
  for (const auto& component : given["rhs"].items())
    if (component.is_object())
      conditions.rhs.emplace_back(ElementData{component["file"].text(), component["dataset"].text()});
    else
      conditions.rhs.emplace_back(component.expression());
  conditions.dirichlet = build_prescribed_list(given["dirichlet_boundary"], false, scene);
  conditions.obstacle_displacements = build_prescribed_list(given["obstacle_displacements"], true, scene);
  std::map<int, std::string> seen;
  for (const auto& entry : given["neumann_boundary"].items()) {
    TractionEntry traction{.ids = entry["id"].integers(),
                           .value = entry["value"].expressions(),
                           .interpolation = {},
                           .where = entry.where()};
    traction.interpolation = build_factors(entry, traction.value.size());
    refuse_repeated_id(entry, traction.ids, seen);
    conditions.neumann.push_back(std::move(traction));
  }
  conditions.normal_aligned_neumann =
      build_pressures(given["normal_aligned_neumann_boundary"], scene.time.t0);
  conditions.rest_pressure = build_pressures(given["rest_pressure_boundary"], scene.time.t0);
  conditions.pressure = build_pressures(given["pressure_boundary"], scene.time.t0);
  scene.gravity = root["gravity"].numbers();
}

void build_initial_conditions(const Item& root, Scene& scene) {
  const auto given = root["initial_conditions"];
  auto& conditions = scene.initial_conditions;
  conditions.velocity = build_fields(given["velocity"]);
  conditions.solution = build_fields(given["solution"]);
  conditions.acceleration = build_fields(given["acceleration"]);
  for (std::size_t i = 0; i < conditions.acceleration.size(); ++i)
    for (const Expression& component : conditions.acceleration[i].value)
      if (constant_of(component) != 0)
        given["acceleration"].items()[i]["value"].fail(
            "must be zero: only ImplicitNewmark starts from an acceleration, and it is not built; BDF starts "
            "from `solution` and `velocity` (in PolyFEM too). Leave it out, or write a force as `gravity`, "
            "`rhs` or a load");
  for (const auto& entry : given["angular_velocity"].items()) {
    AngularVelocity spin{build_region(entry), entry["value"].numbers(), std::nullopt};
    if (spin.value.size() == 2) entry["value"].fail("needs one number in 2D, three in 3D, has 2");
    if (entry.has("center")) spin.center = entry["center"].vector();
    conditions.angular_velocity.push_back(std::move(spin));
  }
  if (!root.has("time"))
    for (const char* name : {"velocity", "solution", "acceleration", "angular_velocity"})
      if (given[name].size() > 0)
        scene.warnings.push_back(given[name].where() +
                                 ": has no effect on a static scene (there is no `time`)");
}

} // namespace recoil::app
