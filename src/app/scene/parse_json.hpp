#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace recoil::app {

/// Deepest nesting of a file of ours.
constexpr int max_json_depth = 64;

/// Parses a JSON text. @param name of the file, @param kind "scene" or "study", for messages.
/// @throws InputError with file:line:column (and JSON pointer where a value is the trouble) if it is not
/// valid JSON, holds a number that double precision does not, or is nested deeper than max_json_depth.
nlohmann::json parse_json(const std::string& text, const std::string& name, const std::string& kind);

} // namespace recoil::app
