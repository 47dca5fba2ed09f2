#pragma once

#include <nlohmann/json.hpp>

#include "recoil/app/scene/locations.hpp"

namespace recoil::app {

/// Deepest nesting of a file of ours.
constexpr int max_json_depth = 64;

/// Applies the operations of a JSON Patch (RFC 6902) to `root`.
/// @param places of the operations, below /patch.
/// @throws InputError that names the operation and what is wrong with it: its form, a pointer to nothing, a
/// test that does not hold, or a result that is too large or too deep for any scene.
void apply_json_patch(nlohmann::json& root, const nlohmann::json& operations, const Locations& places);

} // namespace recoil::app
