#pragma once

#include <span>
#include <vector>

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

/// `units` of a file, and what it holds.
std::span<const Key> unit_keys();
/// Keys of all files with a geometry: root, geometry and selections.
std::vector<KeySection> geometry_sections();

} // namespace recoil::app
