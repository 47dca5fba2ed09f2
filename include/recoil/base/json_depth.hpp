#pragma once

#include <filesystem>
#include <string_view>

namespace recoil {

/// The depth to which arrays and objects of a JSON text are nested, found in one pass without building
/// anything; of a text that is no JSON some number.
int json_depth(std::string_view text);

/// @throws FileError naming `path` where the text is nested deeper than anything that recoil writes: values
/// are copied and printed by recursion, which such a text would let overflow the stack.
void require_shallow_json(std::string_view text, const std::filesystem::path& path);

} // namespace recoil
