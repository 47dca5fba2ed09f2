#include "app/solvers/async_contact/build_async.hpp"

#include <algorithm>
#include <map>

#include "recoil/app/run/law_constants.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/app/solvers/async_contact/async_scene.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/potentials/laws/lame.hpp"
#include "recoil/solvers/async_contact/shell.hpp"

namespace recoil::app {
namespace {

/// Ticks are written as doubles, which are exact up to 2^53 of 2^-40 s.
constexpr double longest_run = 8000;

void read_springs(const Item& list, SphereBody& body) {
  for (const Item& pair : list.items()) {
    const std::vector<int> ends = pair.integers();
    if (ends[0] == ends[1]) pair.fail("joins sphere " + std::to_string(ends[0]) + " with itself; name two");
    if (body.file.empty() && std::max(ends[0], ends[1]) >= std::ssize(body.centers))
      pair.fail("names sphere " + std::to_string(std::max(ends[0], ends[1])) + ", but the body has " +
                std::to_string(body.centers.size()) + ", counted from 0");
    body.springs.push_back({ends[0], ends[1]});
  }
}

SphereBody build_spheres(const Item& entry) {
  const Item item = entry["spheres"];
  for (const char* name : {"mesh", "generator", "array"})
    if (entry.has(name)) entry[name].fail("is left over: this body is of `spheres`; keep one of them");
  if (entry["advanced"]["normalize_mesh"].flag())
    entry["advanced"]["normalize_mesh"].fail("is for meshes; write a `scale` for spheres");
  check_sphere_transformation(entry);
  SphereBody body;
  body.body = entry["name"].text();
  body.where = item.where();
  if (item.has("file") == item.has("centers"))
    item.fail(item.has("file") ? "has both `file` and `centers`; keep one"
                               : "needs `centers`, or a `file` of spheres");
  if (item.has("radius")) body.radius = item["radius"].number();
  if (item.has("file")) {
    body.file = item["file"].text();
  } else {
    if (!body.radius) item.fail("spheres given by `centers` need a `radius`");
    for (const Item& centre : item["centers"].items()) body.centers.push_back(centre.vector());
  }
  if (item.has("springs")) read_springs(item["springs"], body);
  return body;
}

/// A number of a material, if it is given.
std::optional<double> given(const Item& entry, const char* name) {
  if (!entry.has(name)) return std::nullopt;
  const Item item = entry[name];
  const auto value = item.is_object() ? std::nullopt : constant_of(item.expression());
  if (!value) item.fail("must be a number: a body has one material");
  return value;
}

/// Refuses keys of a material that it has no use for.
void refuse(const Item& entry, std::initializer_list<const char*> names, const std::string& why) {
  for (const char* name : names)
    if (entry.has(name)) entry[name].fail(why);
}

constexpr std::initializer_list<const char*> shell_constants{
    "thickness",       "stretching_stiffness", "bending_stiffness", "area_density",
    "stretch_damping", "bend_damping",         "yield_angle"};
constexpr std::initializer_list<const char*> sphere_constants{"mass", "spring_stiffness", "spring_damping"};

/// Refuses constants of elastic laws of solids.
void refuse_laws(const Item& entry, const char* instead) {
  for (const potentials::LawInfo& law : potentials::laws())
    for (const potentials::LawConstant& constant : law.constants)
      refuse(entry, {constant.name},
             "is of solids, \"type\": \"" + std::string(law.name) + "\" say; " + instead);
}

/// The parameters of a law, from numbers.
std::vector<double> parameters_of(const Item& entry, const potentials::LawInfo& law,
                                  const std::vector<GivenConstant>& constants) {
  const auto find = [&](const std::string& name) -> std::optional<double> {
    const auto found = std::ranges::find(constants, name, &GivenConstant::name);
    if (found == constants.end()) return std::nullopt;
    const auto value = constant_of(found->value);
    if (!value) entry.fail("`" + name + "` must be a number: a body has one material");
    return value;
  };
  if (const auto E = find("E")) {
    if (!(*find("nu") < 0.5))
      entry["nu"].fail("must be below 0.5 in solids, which would be incompressible; take 0.499, say");
    const Eigen::Vector2d lame =
        potentials::lame_from_young(*E, *find("nu"), potentials::LameModel::solid).values;
    return {lame[0], lame[1]};
  }
  std::vector<double> values;
  for (const potentials::LawParameter& parameter : law.parameters) {
    const auto value = find(parameter.name);
    values.push_back(value.value_or(parameter.constant->absent));
    if (value && !(*value > parameter.constant->min))
      entry.fail("`" + parameter.name + "` must be above " + std::to_string(parameter.constant->min));
  }
  return values;
}

void read_solid(const Item& entry, AsyncMaterial& material, Scene& scene) {
  refuse(entry, shell_constants, "is of \"type\": \"Shell\", this is a solid; leave it out, or take a Shell");
  refuse(entry, sphere_constants, "is of \"type\": \"Spheres\", this is a solid; leave it out");
  material.law = potentials::find_law(entry["type"].text());
  material.parameters = parameters_of(entry, *material.law, law_constants(entry, *material.law, scene));
  material.density = *given(entry, "rho");
}

/// Whether a density is another one than that of materials that give none.
bool is_given_density(double rho, const Scene& scene) { return rho != scene.units.per("kg/m^3"); }

void read_shell(const Item& entry, AsyncMaterial& material, const Scene& scene) {
  refuse_laws(entry, "take `body`, `E`, `nu`, `rho`, `thickness` of a Shell");
  refuse(entry, sphere_constants, "is of \"type\": \"Spheres\", this is a shell; leave it out");
  const auto E = given(entry, "E"), nu = given(entry, "nu"), thickness = given(entry, "thickness");
  const double rho = *given(entry, "rho");
  if (E) {
    refuse(entry, {"stretching_stiffness", "bending_stiffness"},
           "follows from `E`, `nu` and `thickness`; give these or the stiffnesses");
    if (!nu || !thickness)
      entry.fail(std::string("a Shell with `E` needs `nu` and `thickness`; `") + (nu ? "thickness" : "nu") +
                 "` is missing");
    const auto shell = solvers::async_contact::solid_shell(*E, *nu, *thickness, rho);
    material.stretching_stiffness = shell.stretching_stiffness;
    material.bending_stiffness = shell.bending_stiffness;
  } else {
    for (const char* name : {"stretching_stiffness", "bending_stiffness"})
      if (!entry.has(name))
        entry.fail(
            "a Shell needs `E`, `nu` and `thickness`, or `stretching_stiffness` and `bending_stiffness`; `" +
            std::string(name) + "` is missing");
    material.stretching_stiffness = entry["stretching_stiffness"].number();
    material.bending_stiffness = entry["bending_stiffness"].number();
  }
  material.poisson = nu.value_or(material.poisson);
  if (entry.has("area_density")) {
    if (is_given_density(rho, scene))
      entry["area_density"].fail("is `rho` times `thickness`; give one of both");
    material.area_density = entry["area_density"].number();
  } else {
    if (!thickness) entry.fail("a Shell needs `rho` and `thickness`, or `area_density`");
    material.area_density = rho * *thickness;
  }
  if (entry.has("stretch_damping")) material.stretch_damping = entry["stretch_damping"].number();
  if (entry.has("bend_damping")) material.bend_damping = entry["bend_damping"].number();
  if (material.stretch_damping > 0 && !(material.stretching_stiffness > 0))
    entry["stretch_damping"].fail("damps stretching, whose stiffness is 0; give it one, or leave this out");
  if (material.bend_damping > 0 && !(material.bending_stiffness > 0))
    entry["bend_damping"].fail("damps bending, whose stiffness is 0; give it one, or leave this out");
  if (entry.has("yield_angle")) {
    if (!(material.bending_stiffness > 0))
      entry["yield_angle"].fail("is of bending, whose stiffness is 0; give it one, or leave this out");
    material.yield_angle = entry["yield_angle"].number();
  }
}

void read_spheres(const Item& entry, AsyncMaterial& material, const Scene& scene) {
  refuse_laws(entry, "these are rigid spheres; leave it out");
  refuse(entry, {"E", "nu"}, "is of deformable bodies, these are rigid spheres; leave it out");
  refuse(entry, shell_constants, "is of \"type\": \"Shell\", these are rigid spheres; leave it out");
  material.density = *given(entry, "rho");
  if (entry.has("mass")) {
    if (is_given_density(material.density, scene))
      entry["mass"].fail("is given by `rho` already; keep one of both");
    material.mass = entry["mass"].number();
  }
  if (entry.has("spring_stiffness")) material.spring_stiffness = entry["spring_stiffness"].number();
  if (!entry.has("spring_damping")) return;
  if (!entry.has("spring_stiffness"))
    entry["spring_damping"].fail("is of springs, which need `spring_stiffness`");
  material.spring_damping = entry["spring_damping"].number();
}

AsyncMaterial build_async_material(const Item& entry, Scene& scene) {
  AsyncMaterial material;
  material.where = entry.where();
  if (entry.has("body")) material.bodies = entry["body"].texts();
  const std::string type = entry["type"].text();
  material.kind = type == "Shell"     ? AsyncBodyKind::shell
                  : type == "Spheres" ? AsyncBodyKind::spheres
                                      : AsyncBodyKind::solid;
  if (material.kind == AsyncBodyKind::shell)
    read_shell(entry, material, scene);
  else if (material.kind == AsyncBodyKind::spheres)
    read_spheres(entry, material, scene);
  else
    read_solid(entry, material, scene);
  return material;
}

const SphereBody* find_spheres(const Scene& scene, const std::string& body) {
  const auto& all = async_of(scene).spheres;
  const auto found = std::ranges::find(all, body, &SphereBody::body);
  return found == all.end() ? nullptr : &*found;
}

/// Every body has a material of its kind.
void check_materials(const Scene& scene) {
  for (const std::string& body : deformable_names(scene)) {
    const AsyncMaterial* material = find_async_material(scene, body);
    const SphereBody* spheres = find_spheres(scene, body);
    const std::string type = spheres ? "Spheres" : "Shell"; // or an elastic law
    if (!material)
      throw InputError(scene.file.string() + " (/materials)",
                       "body '" + body + "' has no material; add one of \"type\": \"" + type + "\"");
    if ((material->kind == AsyncBodyKind::spheres) != (spheres != nullptr))
      throw InputError(material->where,
                       "body '" + body + "' is " +
                           (spheres ? "of spheres and needs a material of \"type\": \"Spheres\""
                                    : "of a mesh and needs a material of \"type\": \"Shell\" or "
                                      "of an elastic law") +
                           "; name the `body` of each material");
    if (spheres && !spheres->springs.empty() && !(material->spring_stiffness > 0))
      throw InputError(material->where,
                       "body '" + body + "' has `springs`, for which `spring_stiffness` is missing");
  }
}

void build_async_materials(const Item& list, Scene& scene) {
  std::map<std::string, std::string> seen;
  for (const Item& entry : list.is_object() ? std::vector{list} : list.items()) {
    AsyncMaterial& material = async_of(scene).materials.emplace_back(build_async_material(entry, scene));
    for (const std::string& body : material.bodies) {
      check_body(scene, body, entry["body"].where());
      if (const auto [known, is_new] = seen.emplace(body, entry.where()); !is_new)
        entry.fail("a material for body '" + body + "' is given already at " + known->second + "; keep one");
    }
  }
}

void check_async_entry(const Item& entry) {
  if (entry.has("volume_selection"))
    entry["volume_selection"].fail("bodies have no volume ids; give materials by `body`");
  if (entry["is_obstacle"].flag()) {
    if (entry.has("spheres"))
      entry["spheres"].fail("an obstacle has none; take a mesh or a plane, or hold the spheres of a body by "
                            "`point_selection` and `dirichlet_boundary`");
    if (entry.has("point_selection"))
      entry["point_selection"].fail("is of bodies, this is an obstacle; give its id by `surface_selection`");
    return;
  }
  if (entry.has("surface_selection") && entry.has("spheres"))
    entry["surface_selection"].fail("is of triangles, and this body is of spheres; leave it out");
}

/// Prescribed motions that asynchronous contact does not have.
void check_motions(const Item& list, const Scene& scene) {
  const auto entries = list.items();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const DirichletEntry& entry = scene.boundary_conditions.dirichlet[i];
    if (!entry.node_file.empty() || entry.nodal)
      entries[i].fail("files of values belong to finite elements; write formulas for ids");
    if (!std::ranges::all_of(entry.value, &ComponentValue::constrained))
      entries[i]["dimension"].fail("a vertex is held in all components or in none; leave it out");
  }
}

void check_initial_values(const Item& given) {
  for (const char* name : {"velocity", "solution"})
    for (const Item& entry : given[name].items())
      if (entry["value"].is_object())
        entry["value"].fail("files of values belong to finite elements; write formulas of x, y, z");
}

/// Loads are functions of place and time.
void check_loads(const Item& conditions, const Scene& scene) {
  const BoundaryConditions& given = scene.boundary_conditions;
  for (std::size_t i = 0; i < given.rhs.size(); ++i)
    if (file_of(given.rhs[i]))
      conditions["rhs"].items()[i].fail(
          "files of values belong to finite elements; write a formula of x, y, z, t");
  for (std::size_t i = 0; i < given.pressure.size(); ++i)
    if (!given.pressure[i].per_time.empty())
      throw InputError(given.pressure[i].where,
                       "lists per time are of the steps of finite elements; write a formula of t");
  if (!given.neumann.empty() || !given.pressure.empty()) return;
  for (const mesh::GeometrySpec& entry : scene.geometry)
    if (!entry.is_obstacle && !entry.surface_selection.empty())
      throw InputError(
          entry.surface_selection.front().where,
          "gives ids to triangles, which no `pressure_boundary` or `neumann_boundary` uses; vertices "
          "are held one by one, by ids of `point_selection`");
}

/// Keys of contact that is switched off, which would change nothing.
void check_contact(const Item& root, const Scene& scene) {
  if (scene.contact.enabled) return;
  const AsyncSpec& spec = async_of(scene).solver;
  const AsyncSpec initial;
  const auto refuse = [&](bool is_written, const char* name) {
    if (is_written) root["contact"][name].fail("is of contact; set contact/enabled to true, or leave it out");
  };
  refuse(spec.restitution != initial.restitution, "restitution");
  refuse(spec.anchor_stiffness != initial.anchor_stiffness, "anchor_stiffness");
  refuse(spec.layer_stiffness != initial.layer_stiffness * scene.units.per("N/m"), "layer_stiffness");
  refuse(scene.contact.friction_coefficient > 0, "friction_coefficient");
  if (const Item motions = root["boundary_conditions"]["obstacle_displacements"]; motions.size() > 0)
    motions.fail("moves what nothing touches without contact; set contact/enabled to true");
}

void check_friction(const Item& contact, const Scene& scene) {
  if (async_of(scene).solver.anchor_stiffness > 0 && scene.contact.friction_coefficient == 0)
    contact["anchor_stiffness"].fail("is of friction; give a `friction_coefficient`, or leave it out");
}

} // namespace

void build_async(const Item& root, Scene& scene) {
  if (!root.has("time"))
    throw InputError(scene.file.string(), "needs `time`: asynchronous contact is about motion");
  if (scene.time.steps * scene.time.dt > longest_run)
    root["time"].fail("asynchronous contact counts time in ticks of 2^-40 " + scene.units.time +
                      ", of which a run has 8000 " + scene.units.time + " at most");
  for (const Item& entry : root["geometry"].items()) {
    if (!entry["enabled"].flag()) continue;
    check_async_entry(entry);
    if (entry.has("spheres")) async_of(scene).spheres.push_back(build_spheres(entry));
  }
  build_async_materials(root["materials"], scene);
  check_materials(scene);
  check_motions(root["boundary_conditions"]["dirichlet_boundary"], scene);
  check_initial_values(root["initial_conditions"]);
  check_loads(root["boundary_conditions"], scene);
  check_contact(root, scene);
  check_friction(root["contact"], scene);
}

bool has_spheres(const Item& entry) { return entry.has("spheres"); }

} // namespace recoil::app
