#include <algorithm>
#include <map>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/run/law_constants.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"

namespace recoil::app {
namespace {

MaterialEntry build_material(const Item& entry, bool alone, Scene& scene) {
  MaterialEntry material;
  material.where = entry.where();
  material.type = entry["type"].text();
  material.law = potentials::find_law(material.type);
  if (entry.has("body")) {
    if (entry.has("id")) entry.fail("has both `id` and `body`; keep one");
    material.bodies = entry["body"].texts();
  } else if (alone) {
    material.everywhere = true;
    if (entry.has("id"))
      scene.notes.push_back(entry["id"].where() + ": ignored: a single material applies everywhere");
  } else {
    material.ids = entry.has("id") ? entry["id"].integers() : std::vector<int>{0};
  }
  material.constants = law_constants(entry, *material.law, scene);
  material.rho = material_value(entry["rho"]);
  material.phi = material_value(entry["phi"]);
  material.psi = material_value(entry["psi"]);
  material.plane = entry["plane"].text() == "strain" ? PlaneState::strain : PlaneState::stress;
  // In 3D, where `plane` is not looked at, the elements find out.
  if (material.plane == PlaneState::strain && entry.has("nu") && !entry["nu"].is_object() &&
      constant_of(entry["nu"].expression()).value_or(0) >= 0.5)
    entry["nu"].fail("must be below 0.5 in plane strain, where the body would be incompressible; take 0.499 "
                     "with \"discr_order\": 2 and \"mean_dilatation\": true, or \"plane\": \"stress\"");
  material.mean_dilatation = entry["mean_dilatation"].flag();
  return material;
}

/// An id or a body named twice is refused: it is more often a slip than a wish.
void refuse_duplicates(const std::vector<Item>& entries, const std::vector<MaterialEntry>& materials) {
  std::map<std::string, std::string> seen;
  const auto once = [&](const std::string& what, const Item& entry) {
    const auto [it, fresh] = seen.emplace(what, entry.where());
    if (!fresh) entry.fail("a material for " + what + " is given already at " + it->second + "; keep one");
  };
  for (std::size_t i = 0; i < materials.size(); ++i) {
    for (const int id : materials[i].ids) once("id " + std::to_string(id), entries[i]);
    for (const auto& body : materials[i].bodies) once("body '" + body + "'", entries[i]);
  }
}

} // namespace

void build_materials(const Item& root, Scene& scene) {
  std::vector<MaterialEntry>& materials = elements_of(scene).materials;
  const auto given = root["materials"];
  if (given.is_object()) {
    materials.push_back(build_material(given, true, scene));
    return;
  }
  const auto entries = given.items();
  for (const auto& entry : entries) materials.push_back(build_material(entry, false, scene));
  refuse_duplicates(entries, materials);
}

} // namespace recoil::app
