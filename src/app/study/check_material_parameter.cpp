#include "app/study/scene_facts.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/app/study/read_study.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

/// The constants of an entry that a parameter replaces, and those that it is converted with.
struct TouchedConstants {
  std::vector<MaterialEntry::Constant> replaced, converted;
};

TouchedConstants touched_constants(const QuantityInfo& quantity, const MaterialEntry& entry) {
  const std::string& name = quantity.constant;
  if (quantity.group == QuantityGroup::density) return {{{name, entry.rho}}, {}};
  if (quantity.group == QuantityGroup::damping) return {{{name, name == "psi" ? entry.psi : entry.phi}}, {}};
  TouchedConstants touched;
  const bool of_young = name == "E" || name == "nu";
  for (const MaterialEntry::Constant& constant : entry.constants) {
    if (constant.name == name || (entry.law->lame && of_young != entry.given_by_young()))
      touched.replaced.push_back(constant);
    else if (of_young)
      touched.converted.push_back(constant);
  }
  return touched;
}

/// The quantities that are constants of a material, for a message.
std::string quantities_of(const MaterialEntry& entry) {
  if (entry.law->lame) return "young_modulus, poisson_ratio, lambda or mu_lame";
  std::vector<std::string> names;
  for (const potentials::LawParameter& parameter : entry.law->parameters)
    if (!parameter.quantity.empty() && entry.find(parameter.name)) names.push_back(parameter.quantity);
  return list_names(names, "or");
}

void require_law(const ParameterSpec& parameter, const MaterialEntry& entry, const std::string& body) {
  const QuantityInfo& quantity = info(parameter.quantity);
  const bool known =
      quantity.law ? entry.law == quantity.law && entry.find(quantity.constant) : entry.law->lame;
  if (quantity.group == QuantityGroup::material && !known)
    throw InputError(parameter.where.of("quantity"),
                     std::string(quantity.name) + " is not a constant of " + entry.type +
                         ", the law of body '" + body + "' at " + entry.where + "; take " +
                         quantities_of(entry) +
                         (parameter.bodies.empty() ? ", or say which `body` is meant" : ""));
  if (quantity.group == QuantityGroup::damping && is_zero(entry.psi) && is_zero(entry.phi))
    throw InputError(parameter.where.of("quantity"),
                     std::string(quantity.name) + " is not used: the material of body '" + body + "' at " +
                         entry.where + " has no damping; give it a positive `psi` or `phi`" +
                         (parameter.bodies.empty() ? ", or say which `body` is meant" : ""));
}

void require_one_value(const ParameterSpec& parameter, const MaterialEntry& entry,
                       const MaterialEntry::Constant& constant, const std::string& body) {
  const std::string what = "'" + parameter.name + "' would replace `" + constant.name + "` of body '" + body +
                           "' at " + entry.where;
  if (depends_on_position(constant.value))
    throw InputError(parameter.where.of("quantity"),
                     what + ", a formula that varies in space: '" +
                         std::get<Expression>(constant.value).text() + "'; write a number there" +
                         (parameter.per == Per::element ? ", or values per element" : ""));
  if (const auto* data = std::get_if<ElementData>(&constant.value); data && parameter.per != Per::element)
    throw InputError(parameter.where.of("per"), what + ", which has one value per element (" +
                                                    data->file.string() + ", " + data->dataset +
                                                    "), by one value per " + name_of(parameter.per) +
                                                    "; write \"per\": \"element\", or a number there");
}

} // namespace

void check_replaces_material(const ParameterSpec& parameter, const MaterialEntry& material,
                             const std::string& body) {
  require_law(parameter, material, body);
  const TouchedConstants touched = touched_constants(info(parameter.quantity), material);
  for (const MaterialEntry::Constant& constant : touched.replaced)
    require_one_value(parameter, material, constant, body);
  for (const MaterialEntry::Constant& constant : touched.converted)
    if (depends_on_position(constant.value))
      throw InputError(
          parameter.where.of("quantity"),
          std::string(info(parameter.quantity).name) + " acts together with `" + constant.name +
              "` of body '" + body + "' at " + material.where + ", a formula that varies inside elements: '" +
              std::get<Expression>(constant.value).text() + "'; write a number or values per element there");
}

} // namespace recoil::app
