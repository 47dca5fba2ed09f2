#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

#include <algorithm>
#include <optional>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

constexpr const char* known_integrators = "ImplicitEuler, BDF1 .. BDF6, or {\"type\": \"BDF\", \"steps\": k}";

int read_bdf_order(const Item& integrator) {
  const auto type = integrator.is_text() ? integrator.text() : integrator["type"].text();
  const bool steps = integrator.is_object() && integrator.has("steps");
  if (type == "ImplicitNewmark")
    integrator.fail("ImplicitNewmark is not built; use " + std::string(known_integrators) +
                    (integrator.is_object() ? " (in this form PolyFEM moreover swaps beta and gamma)" : ""));
  if (steps && type != "BDF") integrator["steps"].fail("goes with \"type\": \"BDF\" only");
  if (type == "ImplicitEuler") return 1;
  if (type == "BDF") return steps ? integrator["steps"].integer() : 1;
  if (type.size() == 4 && type.starts_with("BDF") && type[3] >= '1' && type[3] <= '6') return type[3] - '0';
  integrator.fail("unknown integrator \"" + type + "\"; known are " + known_integrators);
}

void build_orders(const Item& order, const Scene& scene, SpaceSpec& space) {
  if (order.is_number()) {
    space.order = order.integer();
    return;
  }
  for (const auto& entry : order.items()) {
    const auto body = entry["body"].text();
    check_body(scene, body, entry["body"].where());
    for (const auto& [known, value] : space.body_orders)
      if (known == body) entry["body"].fail("body '" + body + "' has an order already; keep one entry");
    space.body_orders.emplace_back(body, entry["order"].integer());
  }
}

void build_space(const Item& given, const Scene& scene, SpaceSpec& space) {
  build_orders(given["discr_order"], scene, space);
  const auto advanced = given["advanced"];
  if (const int degree = advanced["quadrature_order"].integer(); degree > 0) space.quadrature_degree = degree;
  int highest = space.order;
  for (const auto& [body, order] : space.body_orders) highest = std::max(highest, order);
  const auto of_mass = advanced["mass_quadrature_order"];
  if (of_mass.integer() > 0 && of_mass.integer() < 2 * highest)
    of_mass.fail("masses and body forces are integrated to degree " + std::to_string(2 * highest) +
                 " on order " + std::to_string(highest) + ", a lower degree is not built; is " +
                 of_mass.dump());
}

/// PolyFEM has one pair of damping constants, the last that it reads, and drops it unless both are positive.
void check_polyfem_damping(const Scene& scene) {
  std::optional<std::pair<double, double>> first;
  for (const MaterialEntry& entry : elements_of(scene).materials) {
    const auto phi = constant_of(entry.phi), psi = constant_of(entry.psi);
    if (!phi || !psi)
      throw InputError(entry.where, "with \"conventions\": \"polyfem\" `phi` and `psi` must be numbers");
    if ((*phi > 0) != (*psi > 0))
      throw InputError(entry.where, "PolyFEM leaves damping out unless `phi` and `psi` are both positive; "
                                    "with \"conventions\": \"polyfem\" write both or neither");
    if (!first) first = {*phi, *psi};
    if (first != std::pair(*phi, *psi))
      throw InputError(entry.where, "PolyFEM has one `phi` and one `psi` for all bodies; with "
                                    "\"conventions\": \"polyfem\" write the same in every material");
  }
}

void check_elements(const Scene& scene) {
  const ElementScene& own = elements_of(scene);
  const std::string file = scene.file.string();
  if (const auto bodies = deformable_names(scene); own.materials.empty() && !bodies.empty())
    throw InputError(file + " (/materials)", "there is no material; body '" + bodies.front() + "' needs one");
  for (const MaterialEntry& material : own.materials)
    for (const std::string& body : material.bodies) check_body(scene, body, material.where);
  if (own.conventions == Conventions::polyfem) check_polyfem_damping(scene);
  if (own.solver.lump_mass_matrix)
    for (const auto& body : deformable_names(scene))
      if (order_of_body(scene, body) > 1)
        throw InputError(
            file + " (/solver/advanced/lump_mass_matrix)",
            "needs order 1, body '" + body + "' has order " + std::to_string(order_of_body(scene, body)) +
                " (row sums of higher orders are zero or negative); set it to false or discr_order to 1");
}

void build_stored_state(const Item& item, const Scene& scene, ElementScene& own) {
  if (!item.has("state")) return;
  const Item state = item["state"];
  if (scene.time.kind == TimeKind::statics)
    state.fail("acts in scenes with `time` only: a static solution does not depend on where it starts");
  StoredState& from = own.stored.emplace();
  from.run = state["run"].text();
  if (state.has("time")) from.time = state["time"].number();
  from.where = state.where();
}

void refuse_moving_planes(const Item& geometry) {
  for (const Item& entry : geometry.items())
    if (entry["enabled"].flag() && entry["type"].text() == "plane" && entry.has("surface_selection"))
      entry["surface_selection"].fail(
          "planes rest in scenes of finite elements; leave it out, or take a mesh that moves");
}

} // namespace

void build_elements(const Item& root, Scene& scene) {
  ElementScene& own = elements_of(scene);
  refuse_moving_planes(root["geometry"]);
  own.conventions = root["conventions"].text() == "polyfem" ? Conventions::polyfem : Conventions::recoil;
  build_space(root["space"], scene, own.space);
  build_materials(root, scene);
  if (root.has("time")) own.bdf_order = read_bdf_order(root["time"]["integrator"]);
  build_stored_state(root["initial_conditions"], scene, own);
  build_periodic(root, scene);
  check_elements(scene);
}

std::vector<std::filesystem::path> ElementScene::files() const {
  std::vector<std::filesystem::path> files;
  for (const MaterialEntry& entry : materials)
    for (const MaterialValue* value : entry.values())
      if (const auto* file = file_of(*value)) files.push_back(*file);
  // It holds the checksums of all others.
  if (stored) files.push_back(stored->trajectory() / "manifest.json");
  return files;
}

stepping::Entries ElementScene::scheme() const { return {{"bdf_order", GlobalIndex{bdf_order}}}; }

int find_material_index(const Scene& scene, const std::string& body, int volume_id) {
  const std::vector<MaterialEntry>& materials = elements_of(scene).materials;
  int index = std::ssize(materials);
  while (--index >= 0) {
    const MaterialEntry& material = materials[index];
    if (material.everywhere || holds(material.ids, volume_id) || holds(material.bodies, body)) break;
  }
  return index;
}

const MaterialValue* MaterialEntry::find(std::string_view name) const {
  const auto found = std::ranges::find(constants, name, &Constant::name);
  return found == constants.end() ? nullptr : &found->value;
}

std::vector<const MaterialValue*> MaterialEntry::values() const {
  std::vector<const MaterialValue*> all;
  for (const Constant& constant : constants) all.push_back(&constant.value);
  for (const MaterialValue* value : {&rho, &phi, &psi}) all.push_back(value);
  return all;
}

const MaterialEntry* find_material(const Scene& scene, const std::string& body, int volume_id) {
  const int index = find_material_index(scene, body, volume_id);
  return index < 0 ? nullptr : &elements_of(scene).materials[index];
}

int order_of_body(const Scene& scene, const std::string& body) {
  const SpaceSpec& space = elements_of(scene).space;
  for (const auto& [name, order] : space.body_orders)
    if (name == body) return order;
  return space.order;
}

} // namespace recoil::app
