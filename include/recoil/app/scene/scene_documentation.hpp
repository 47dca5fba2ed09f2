#pragma once

#include <string>

namespace recoil::app {

/// JSON Schema (draft 2020-12) of scene files, from the same table of keys that read_scene checks against.
std::string scene_json_schema();

/// docs/scene.md, from the same table.
std::string scene_markdown();

} // namespace recoil::app
