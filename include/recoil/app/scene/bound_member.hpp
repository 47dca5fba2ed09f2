#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "recoil/app/scene/item.hpp"
#include "recoil/app/scene/keys.hpp"
#include "recoil/app/scene/scene.hpp"

namespace recoil::app {

/// A member of the scene that a row of the key table binds: the row has the type of the member, and its
/// default is what the member is initialised with.
struct BoundMember {
  unsigned types;
  std::string (*initial)(); ///< as JSON text; empty: none
  std::string (*choices)(); ///< as JSON list; empty: any value of the type
  void (*set)(Scene&, const Item& value);
};

/// The names that scenes have for the values of an enum, for every enum that a key is bound to.
template <class Enum>
struct EnumNames;
template <class Enum>
struct EnumName {
  const char* name;
  Enum value;
};
template <>
struct EnumNames<SolverType> {
  static constexpr EnumName<SolverType> all[]{{"elastodynamics", SolverType::elastodynamics},
                                              {"bonded_particles", SolverType::bonded_particles}};
};
template <>
struct EnumNames<solvers::ParticleIntegrator> {
  static constexpr EnumName<solvers::ParticleIntegrator> all[]{
      {"be_reflect", solvers::ParticleIntegrator::be_reflect},
      {"mid_reflectT", solvers::ParticleIntegrator::mid_reflectT},
      {"del_exact", solvers::ParticleIntegrator::del_exact},
      {"paper_literal", solvers::ParticleIntegrator::paper_literal},
      {"leapfrog", solvers::ParticleIntegrator::leapfrog}};
};
template <>
struct EnumNames<solvers::SuddenBreaking> {
  static constexpr EnumName<solvers::SuddenBreaking> all[]{
      {"impacts", solvers::SuddenBreaking::impacts},
      {"shorter_steps", solvers::SuddenBreaking::shorter_steps},
      {"leapfrog", solvers::SuddenBreaking::leapfrog}};
};
template <>
struct EnumNames<potentials::ContactLaw> {
  static constexpr EnumName<potentials::ContactLaw> all[]{{"barrier", potentials::ContactLaw::barrier},
                                                          {"penalty", potentials::ContactLaw::penalty}};
};
template <>
struct EnumNames<StopRule> {
  static constexpr EnumName<StopRule> all[]{{"gradient", StopRule::gradient}, {"step", StopRule::step}};
};
template <>
struct EnumNames<StopNorm> {
  static constexpr EnumName<StopNorm> all[]{{"L2", StopNorm::l2}, {"Euclidean", StopNorm::euclidean}};
};
template <>
struct EnumNames<OutputField> {
  static constexpr EnumName<OutputField> all[]{{"stress", OutputField::stress},
                                               {"von_mises", OutputField::von_mises},
                                               {"strain_energy", OutputField::strain_energy},
                                               {"contact_force", OutputField::contact_force},
                                               {"friction_force", OutputField::friction_force}};
};

template <class Enum>
Enum value_of_name(const std::string& name) {
  for (const auto& [known, value] : EnumNames<Enum>::all)
    if (known == name) return value;
  throw InputError("", "unknown name '" + name + "'");
}

template <class Enum>
const char* name_of_value(Enum value) {
  for (const auto& [name, known] : EnumNames<Enum>::all)
    if (known == value) return name;
  return "";
}

namespace detail {

template <class Value>
constexpr unsigned key_type(const Value&) {
  if constexpr (std::is_same_v<Value, bool>)
    return boolean;
  else if constexpr (std::is_same_v<Value, int>)
    return integer;
  else if constexpr (std::is_same_v<Value, double>)
    return number;
  else
    return text;
}
template <class Value>
constexpr unsigned key_type(const std::optional<Value>&) {
  return key_type(Value());
}

template <class Value>
std::string as_json(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return fmt::format("\"{}\"", name_of_value(value));
  } else {
    return fmt::format("{}", value);
  }
}
template <class Value>
std::string as_json(const std::optional<Value>&) {
  return "";
}

template <class Value>
std::string choices(const Value& /*of_type*/) {
  std::string all;
  if constexpr (std::is_enum_v<Value>) {
    for (const auto& [name, named] : EnumNames<Value>::all)
      all += (all.empty() ? "[" : ", ") + as_json(named);
    all += "]";
  }
  return all;
}
template <class Value>
std::string choices(const std::optional<Value>&) {
  return choices(Value());
}

template <class Value>
void read(const Item& item, Value& value) {
  if constexpr (std::is_enum_v<Value>)
    value = value_of_name<Value>(item.text());
  else if constexpr (std::is_same_v<Value, bool>)
    value = item.flag();
  else if constexpr (std::is_same_v<Value, int>)
    value = item.integer();
  else
    value = item.number();
}
template <class Value>
void read(const Item& item, std::optional<Value>& value) {
  read(item, value.emplace());
}

template <auto part>
using Part = std::remove_cvref_t<decltype(std::declval<Scene&>().*part)>;

} // namespace detail

/// `member` of the part of a scene, as bound<&Scene::contact, &ContactSpec::dhat>.
template <auto part, auto member>
inline constexpr BoundMember bound{
    detail::key_type(detail::Part<part>().*member),
    [] { return detail::as_json(detail::Part<part>().*member); },
    [] { return detail::choices(detail::Part<part>().*member); },
    [](Scene& scene, const Item& value) { detail::read(value, scene.*part.*member); }};

/// The rows with what their members say, and with those of polyfem_keys.json in this section.
KeySection complete_section(const char* name, std::span<const Key> rows);

/// Sets all bound members of which `root`, checked and with defaults filled in, has values.
void set_bound_members(const KeyTable& table, const Item& root, Scene& scene);

/// The text stays where it is, for rows that are made up.
const char* keep(std::string text);

} // namespace recoil::app
