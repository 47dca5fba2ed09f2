#include "app/scene/item.hpp"
#include "app/study/scene_facts.hpp"
#include "recoil/app/study/read_study.hpp"

namespace recoil::app {
namespace {

bool is_mooney_constant(Quantity quantity) {
  return quantity == Quantity::mooney_c1 || quantity == Quantity::mooney_c2 || quantity == Quantity::mooney_k;
}

const char* law_name(MaterialType type) {
  switch (type) {
  case MaterialType::linear_elasticity:
    return "LinearElasticity";
  case MaterialType::hooke_linear_elasticity:
    return "HookeLinearElasticity";
  case MaterialType::saint_venant:
    return "SaintVenant";
  case MaterialType::neo_hookean:
    return "NeoHookean";
  case MaterialType::fixed_corotational:
    return "FixedCorotational";
  case MaterialType::mooney_rivlin:
    break;
  }
  return "MooneyRivlin";
}

struct NamedConstant {
  const char* name;
  const MaterialValue* value;
};

/// The constants of an entry that a parameter replaces, and those that it is converted with.
struct TouchedConstants {
  std::vector<NamedConstant> replaced, converted;
};

TouchedConstants touched_constants(Quantity quantity, const MaterialEntry& entry) {
  const NamedConstant E{"E", &entry.E}, nu{"nu", &entry.nu}, lambda{"lambda", &entry.lambda},
      mu{"mu", &entry.mu};
  const bool young = entry.pair == ElasticPair::young_poisson;
  switch (quantity) {
  case Quantity::young_modulus:
    return young ? TouchedConstants{{E}, {nu}} : TouchedConstants{{lambda, mu}, {}};
  case Quantity::poisson_ratio:
    return young ? TouchedConstants{{nu}, {E}} : TouchedConstants{{lambda, mu}, {}};
  case Quantity::lambda:
    return young ? TouchedConstants{{E, nu}, {}} : TouchedConstants{{lambda}, {}};
  case Quantity::mu_lame:
    return young ? TouchedConstants{{E, nu}, {}} : TouchedConstants{{mu}, {}};
  case Quantity::mooney_c1:
    return {{{"c1", &entry.c1}}, {}};
  case Quantity::mooney_c2:
    return {{{"c2", &entry.c2}}, {}};
  case Quantity::mooney_k:
    return {{{"k", &entry.k}}, {}};
  case Quantity::density:
    return {{{"rho", &entry.rho}}, {}};
  case Quantity::damping_shear:
    return {{{"psi", &entry.psi}}, {}};
  case Quantity::damping_bulk:
    return {{{"phi", &entry.phi}}, {}};
  default:
    return {};
  }
}

void require_law(const ParameterSpec& parameter, const MaterialEntry& entry, const std::string& body) {
  const QuantityInfo& quantity = info(parameter.quantity);
  const bool mooney = entry.type == MaterialType::mooney_rivlin;
  if (quantity.group == QuantityGroup::material && mooney != is_mooney_constant(parameter.quantity))
    throw InputError(parameter.where.of("quantity"),
                     std::string(quantity.name) + " is not a constant of " + law_name(entry.type) +
                         ", the law of body '" + body + "' at " + entry.where + "; take " +
                         (mooney ? "mooney_c1, mooney_c2 or mooney_k"
                                 : "young_modulus, poisson_ratio, lambda or mu_lame") +
                         (parameter.bodies.empty() ? ", or say which `body` is meant" : ""));
  if (quantity.group == QuantityGroup::damping && is_zero(entry.psi) && is_zero(entry.phi))
    throw InputError(parameter.where.of("quantity"),
                     std::string(quantity.name) + " is not used: the material of body '" + body + "' at " +
                         entry.where + " has no damping; give it a positive `psi` or `phi`" +
                         (parameter.bodies.empty() ? ", or say which `body` is meant" : ""));
}

void require_one_value(const ParameterSpec& parameter, const MaterialEntry& entry,
                       const NamedConstant& constant, const std::string& body) {
  const std::string what = "'" + parameter.name + "' would replace `" + constant.name + "` of body '" + body +
                           "' at " + entry.where;
  if (depends_on_position(*constant.value))
    throw InputError(parameter.where.of("quantity"),
                     what + ", a formula that varies in space: '" +
                         std::get<Expression>(*constant.value).text() + "'; write a number there" +
                         (parameter.per == Per::element ? ", or values per element" : ""));
  if (const auto* data = std::get_if<ElementData>(constant.value); data && parameter.per != Per::element)
    throw InputError(parameter.where.of("per"), what + ", which has one value per element (" +
                                                    data->file.string() + ", " + data->dataset +
                                                    "), by one value per " + name_of(parameter.per) +
                                                    "; write \"per\": \"element\", or a number there");
}

} // namespace

void check_replaces_material(const ParameterSpec& parameter, const MaterialEntry& material,
                             const std::string& body) {
  require_law(parameter, material, body);
  const TouchedConstants touched = touched_constants(parameter.quantity, material);
  for (const NamedConstant& constant : touched.replaced)
    require_one_value(parameter, material, constant, body);
  for (const NamedConstant& constant : touched.converted)
    if (depends_on_position(*constant.value))
      throw InputError(
          parameter.where.of("quantity"),
          std::string(info(parameter.quantity).name) + " acts together with `" + constant.name +
              "` of body '" + body + "' at " + material.where + ", a formula that varies inside elements: '" +
              std::get<Expression>(*constant.value).text() + "'; write a number or values per element there");
}

} // namespace recoil::app
