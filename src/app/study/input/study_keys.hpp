#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/scene/keys.hpp"
#include "recoil/app/study/base/study.hpp"

namespace recoil::app {

/// Of objectives/registry.cpp.
std::span<const Key> objective_keys();
/// Of shapes/registry.cpp: `basis` and what is below it.
std::span<const Key> basis_keys();

/// `["a", "b"]`, the names of some rows as choices.
template <class Rows>
std::string names_as_json(const Rows& rows) {
  return fmt::format("[\"{}\"]", fmt::join(names_of(rows), "\", \""));
}

/// What a study may hold; built once.
const KeyTable& study_keys();

} // namespace recoil::app
