#pragma once

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

std::span<const Key> parameter_keys();
/// Of objectives/registry.cpp.
std::span<const Key> objective_keys();
/// The rest: experiments, markers, sweep and check, optimizer.
std::span<const Key> experiment_keys();
std::span<const Key> marker_keys();
std::span<const Key> sweep_keys();
std::span<const Key> optimizer_keys();

/// `["a", "b"]`, the names of some rows as choices.
template <class Rows>
std::string names_as_json(const Rows& rows) {
  std::string list = "[";
  for (const auto& row : rows) list += (list.size() == 1 ? "\"" : ", \"") + std::string(row.name) + "\"";
  return list + "]";
}

/// What a study may hold; built once.
const KeyTable& study_keys();

} // namespace recoil::app
