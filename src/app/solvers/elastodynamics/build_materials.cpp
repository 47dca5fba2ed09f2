#include <algorithm>
#include <map>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

MaterialValue value_of(const Item& item) {
  if (item.is_object()) return ElementData{item["file"].text(), item["dataset"].text()};
  auto formula = item.expression();
  if (formula.depends_on_time())
    item.fail("a material constant cannot change in time, but '" + formula.text() +
              "' depends on t; write a formula of x, y, z");
  return formula;
}

/// Refuses the constants of other laws.
void refuse_constants(const Item& entry, const std::string& type, const potentials::LawInfo& law) {
  const auto refuse = [&](const char* name) {
    if (entry.has(name)) entry[name].fail("is not a constant of " + type + "; leave it out");
  };
  if (!law.lame)
    for (const char* name : {"E", "nu"}) refuse(name);
  for (const potentials::LawInfo& other : potentials::laws())
    for (const potentials::LawConstant& constant : other.constants)
      if (std::ranges::find(law.constants, std::string_view(constant.name), &potentials::LawConstant::name) ==
          law.constants.end())
        refuse(constant.name);
}

void build_own_constants(const Item& entry, const std::string& type, MaterialEntry& material) {
  const auto constants = material.law->constants;
  std::vector<std::string> names;
  for (const potentials::LawConstant& constant : constants)
    names.push_back("`" + std::string(constant.name) + "`");
  std::size_t terms = 0;
  for (const potentials::LawConstant& constant : constants) {
    if (!entry.has(constant.name))
      entry.fail(type + " needs " + list_names(names, "and") + "; `" + constant.name + "` is missing");
    const std::size_t size = constant.max_terms == 0 ? 0 : entry[constant.name].size();
    if (size != 0 && terms != 0 && size != terms)
      entry[constant.name].fail("must be as long as the lists before it, " + std::to_string(terms) +
                                ", but has " + std::to_string(size) + " entries");
    terms = std::max(terms, size);
  }
  for (const potentials::LawParameter& parameter : material.law->parameters) {
    const Item given = entry[parameter.constant->name];
    if (parameter.constant->max_terms == 0)
      material.constants.push_back({parameter.name, value_of(given)});
    else if (const std::size_t term = parameter.term; term < terms)
      material.constants.push_back({parameter.name, value_of(given.items()[term])});
  }
}

void build_elastic_pair(const Item& entry, const std::string& type, MaterialEntry& material, Scene& scene) {
  const bool young = entry.has("E") && entry.has("nu"), lame = entry.has("lambda") && entry.has("mu");
  const int given = entry.has("E") + entry.has("nu") + entry.has("lambda") + entry.has("mu");
  if (!young && !lame) entry.fail(type + " needs `E` and `nu`, or `lambda` and `mu`");
  if (given == 3) entry.fail("give `E` and `nu`, or `lambda` and `mu`: one of them is left over");
  if (young && lame)
    scene.warnings.push_back(entry.where() +
                             ": `E` and `nu` win over `lambda` and `mu`, which are not looked at");
  for (const char* name : young ? std::array{"E", "nu"} : std::array{"lambda", "mu"})
    material.constants.push_back({name, value_of(entry[name])});
  if (young) return;
  const double lambda = constant_of(material.constants[0].value).value_or(1),
               mu = constant_of(material.constants[1].value).value_or(1e300);
  if (!(lambda + 2 * mu / 3 > 0))
    entry["lambda"].fail("lambda + 2 mu/3 must be positive, is " + std::to_string(lambda + 2 * mu / 3));
}

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
  refuse_constants(entry, material.type, *material.law);
  if (material.law->lame)
    build_elastic_pair(entry, material.type, material, scene);
  else
    build_own_constants(entry, material.type, material);
  material.rho = value_of(entry["rho"]);
  material.phi = value_of(entry["phi"]);
  material.psi = value_of(entry["psi"]);
  material.plane = entry["plane"].text() == "strain" ? PlaneState::strain : PlaneState::stress;
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
