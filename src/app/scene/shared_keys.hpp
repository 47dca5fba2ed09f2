#pragma once

#include <vector>

#include "recoil/app/scene/geometry_keys.hpp"

namespace recoil::app {

/// Keys of all scenes: materials, boundary conditions, initial conditions and time.
std::vector<KeySection> physics_sections();
/// Keys of all scenes: contact, solver and output.
std::vector<KeySection> solver_sections();

} // namespace recoil::app
