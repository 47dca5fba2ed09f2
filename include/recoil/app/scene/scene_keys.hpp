#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

/// Root, geometry and selections.
std::vector<KeySection> geometry_sections();
/// Materials, boundary conditions, initial conditions and time.
std::vector<KeySection> physics_sections();
/// Contact, solver and output.
std::vector<KeySection> solver_sections();

/// Of bonded particles.
std::span<const Key> particle_keys();

/// What a scene may hold, with its sections in the order of the documentation; built once.
const KeyTable& scene_keys();

/// JSON Schema (draft 2020-12) of scene files.
std::string scene_json_schema();

/// docs/scene.md.
std::string scene_markdown();

} // namespace recoil::app
