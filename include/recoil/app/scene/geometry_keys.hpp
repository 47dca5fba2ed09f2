#pragma once

#include <vector>

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

/// Keys of all files with a geometry: root, geometry and selections.
std::vector<KeySection> geometry_sections();

} // namespace recoil::app
