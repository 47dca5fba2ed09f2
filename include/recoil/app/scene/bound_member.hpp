#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "recoil/app/scene/enum_names.hpp"
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
  void (*scale)(Scene&, double factor); ///< of a number: the default, in other units
};

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

template <class Value>
void scale(Value& value, double factor) {
  if constexpr (std::is_same_v<Value, double>) value *= factor;
}

template <class Class, class Member>
Class class_of(Member Class::*);

/// What has the member `part`: the scene itself or what it holds for its solver.
template <auto part>
auto& owner_of(Scene& scene) {
  using Owner = decltype(class_of(part));
  if constexpr (std::is_same_v<Owner, Scene>)
    return scene;
  else
    return part_of<Owner>(scene);
}

template <auto part>
using Part = std::remove_cvref_t<decltype(std::declval<decltype(class_of(part))&>().*part)>;

} // namespace detail

/// `member` of the part of a scene, as bound<&Scene::contact, &ContactSpec::dhat>, or of what it holds for
/// its solver.
template <auto part, auto member>
inline constexpr BoundMember bound{
    detail::key_type(detail::Part<part>().*member),
    [] { return detail::as_json(detail::Part<part>().*member); },
    [] { return detail::choices(detail::Part<part>().*member); },
    [](Scene& scene, const Item& value) { detail::read(value, detail::owner_of<part>(scene).*part.*member); },
    [](Scene& scene, double factor) { detail::scale(detail::owner_of<part>(scene).*part.*member, factor); }};

/// Sets all bound members of keys that scenes of this solver have and of which `root`, checked and with
/// defaults filled in, has values. Defaults of others become those of the units of the scene.
void set_bound_members(const KeyTable& table, const Item& root, Scene& scene);

/// The text stays where it is, for rows that are made up.
const char* keep(std::string text);

} // namespace recoil::app
