#pragma once

#include <vector>

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

/// Keys of all scenes: root, geometry and selections.
std::vector<KeySection> geometry_sections();
/// Keys of all scenes: materials, boundary conditions, initial conditions and time.
std::vector<KeySection> physics_sections();
/// Keys of all scenes: contact, solver and output.
std::vector<KeySection> solver_sections();

} // namespace recoil::app
