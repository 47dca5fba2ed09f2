#include <map>

#include "app/scene/build.hpp"

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

double constant_or(const MaterialValue& value, double otherwise) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula && formula->is_constant() ? (*formula)({}) : otherwise;
}

void refuse_constants(const Item& entry, const std::string& type, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (entry.has(name)) entry[name].fail("is not a constant of " + type + "; leave it out");
}

void build_mooney_rivlin(const Item& entry, const std::string& type, MaterialEntry& material) {
  refuse_constants(entry, type, {"E", "nu", "lambda", "mu"});
  for (const char* name : {"c1", "c2", "k"})
    if (!entry.has(name)) entry.fail(type + " needs `c1`, `c2` and `k`; `" + name + "` is missing");
  material.c1 = value_of(entry["c1"]);
  material.c2 = value_of(entry["c2"]);
  material.k = value_of(entry["k"]);
}

void build_elastic_pair(const Item& entry, const std::string& type, MaterialEntry& material, Scene& scene) {
  refuse_constants(entry, type, {"c1", "c2", "k"});
  const bool young = entry.has("E") && entry.has("nu"), lame = entry.has("lambda") && entry.has("mu");
  const int given = entry.has("E") + entry.has("nu") + entry.has("lambda") + entry.has("mu");
  if (!young && !lame) entry.fail(type + " needs `E` and `nu`, or `lambda` and `mu`");
  if (given == 3) entry.fail("give `E` and `nu`, or `lambda` and `mu`: one of them is left over");
  if (young && lame)
    scene.warnings.push_back(entry.where() +
                             ": `E` and `nu` win over `lambda` and `mu`, which are not looked at");
  if (young) {
    material.E = value_of(entry["E"]);
    material.nu = value_of(entry["nu"]);
  } else {
    material.pair = ElasticPair::lame;
    material.lambda = value_of(entry["lambda"]);
    material.mu = value_of(entry["mu"]);
    const double lambda = constant_or(material.lambda, 1), mu = constant_or(material.mu, 1e300);
    if (!(lambda + 2 * mu / 3 > 0))
      entry["lambda"].fail("lambda + 2 mu/3 must be positive, is " + std::to_string(lambda + 2 * mu / 3));
  }
}

MaterialEntry build_material(const Item& entry, bool alone, Scene& scene) {
  static const std::map<std::string, MaterialType> types = {
      {"LinearElasticity", MaterialType::linear_elasticity},
      {"HookeLinearElasticity", MaterialType::hooke_linear_elasticity},
      {"SaintVenant", MaterialType::saint_venant},
      {"NeoHookean", MaterialType::neo_hookean},
      {"FixedCorotational", MaterialType::fixed_corotational},
      {"MooneyRivlin", MaterialType::mooney_rivlin}};
  MaterialEntry material;
  material.where = entry.where();
  const auto type = entry["type"].text();
  material.type = types.at(type);
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
  if (material.type == MaterialType::mooney_rivlin)
    build_mooney_rivlin(entry, type, material);
  else
    build_elastic_pair(entry, type, material, scene);
  material.rho = value_of(entry["rho"]);
  material.phi = value_of(entry["phi"]);
  material.psi = value_of(entry["psi"]);
  material.plane = entry["plane"].text() == "strain" ? PlaneState::strain : PlaneState::stress;
  return material;
}

/// The same id or body twice is more often a slip than a wish.
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
  const auto given = root["materials"];
  if (given.is_object()) {
    scene.materials.push_back(build_material(given, true, scene));
    return;
  }
  const auto entries = given.items();
  for (const auto& entry : entries) scene.materials.push_back(build_material(entry, false, scene));
  refuse_duplicates(entries, scene.materials);
}

} // namespace recoil::app
