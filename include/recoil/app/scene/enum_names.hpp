#pragma once

#include <string>

#include "recoil/base/error.hpp"

namespace recoil::app {

/// The names that scenes have for the values of an enum, for every enum that a key is bound to.
template <class Enum>
struct EnumNames;
template <class Enum>
struct EnumName {
  const char* name;
  Enum value;
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

} // namespace recoil::app
