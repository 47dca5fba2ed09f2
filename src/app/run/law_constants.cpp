#include "recoil/app/run/law_constants.hpp"

#include <algorithm>
#include <array>

#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

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

std::vector<GivenConstant> own_constants(const Item& entry, const std::string& type,
                                         const potentials::LawInfo& law) {
  std::vector<std::string> names;
  for (const potentials::LawConstant& constant : law.constants)
    names.push_back("`" + std::string(constant.name) + "`");
  std::size_t terms = 0;
  for (const potentials::LawConstant& constant : law.constants) {
    if (!entry.has(constant.name))
      entry.fail(type + " needs " + list_names(names, "and") + "; `" + constant.name + "` is missing");
    const std::size_t size = constant.max_terms == 0 ? 0 : entry[constant.name].size();
    if (size != 0 && terms != 0 && size != terms)
      entry[constant.name].fail("must be as long as the lists before it, " + std::to_string(terms) +
                                ", but has " + std::to_string(size) + " entries");
    terms = std::max(terms, size);
  }
  std::vector<GivenConstant> constants;
  for (const potentials::LawParameter& parameter : law.parameters) {
    const Item given = entry[parameter.constant->name];
    if (parameter.constant->max_terms == 0)
      constants.push_back({parameter.name, material_value(given)});
    else if (const std::size_t term = parameter.term; term < terms)
      constants.push_back({parameter.name, material_value(given.items()[term])});
  }
  return constants;
}

std::vector<GivenConstant> elastic_pair(const Item& entry, const std::string& type, Scene& scene) {
  const bool young = entry.has("E") && entry.has("nu"), lame = entry.has("lambda") && entry.has("mu");
  const int given = entry.has("E") + entry.has("nu") + entry.has("lambda") + entry.has("mu");
  if (!young && !lame) entry.fail(type + " needs `E` and `nu`, or `lambda` and `mu`");
  if (given == 3) entry.fail("give `E` and `nu`, or `lambda` and `mu`: one of them is left over");
  if (young && lame)
    scene.warnings.push_back(entry.where() +
                             ": `E` and `nu` win over `lambda` and `mu`, which are not looked at");
  std::vector<GivenConstant> constants;
  for (const char* name : young ? std::array{"E", "nu"} : std::array{"lambda", "mu"})
    constants.push_back({name, material_value(entry[name])});
  if (young) return constants;
  const double lambda = constant_of(constants[0].value).value_or(1),
               mu = constant_of(constants[1].value).value_or(1e300);
  if (!(lambda + 2 * mu / 3 > 0))
    entry["lambda"].fail("lambda + 2 mu/3 must be positive, is " + std::to_string(lambda + 2 * mu / 3));
  return constants;
}

} // namespace

std::vector<std::string> law_names() {
  std::vector<std::string> names;
  for (const potentials::LawInfo& law : potentials::laws())
    for (const std::string_view name : {law.name, law.alias})
      if (!name.empty()) names.emplace_back(name);
  return names;
}

MaterialValue material_value(const Item& item) {
  if (item.is_object()) return ElementData{item["file"].text(), item["dataset"].text()};
  auto formula = item.expression();
  if (formula.depends_on_time())
    item.fail("a material constant cannot change in time, but '" + formula.text() +
              "' depends on t; write a formula of x, y, z");
  return formula;
}

std::vector<GivenConstant> law_constants(const Item& entry, const potentials::LawInfo& law, Scene& scene) {
  const std::string type = entry["type"].text();
  refuse_constants(entry, type, law);
  return law.lame ? elastic_pair(entry, type, scene) : own_constants(entry, type, law);
}

} // namespace recoil::app
