#pragma once

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

std::span<const Key> root_keys();
std::span<const Key> geometry_keys();
std::span<const Key> selection_keys();
std::span<const Key> material_keys();
std::span<const Key> boundary_keys();
std::span<const Key> initial_keys();
std::span<const Key> time_keys();
std::span<const Key> contact_keys();
std::span<const Key> solver_keys();
std::span<const Key> output_keys();

/// All rows, in the order of the documentation.
std::span<const KeySection> scene_key_sections();

/// What a scene may hold; built once.
const KeyTable& scene_keys();

} // namespace recoil::app
