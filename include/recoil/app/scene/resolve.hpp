#pragma once

#include <string>
#include <vector>

#include "recoil/app/scene/document.hpp"

namespace recoil::app {

/// Checks `document.root` against a table of keys and makes it complete: single values become lists of one
/// where the table says so, numbers with units become numbers, paths absolute, defaults are filled in.
/// `notes` receives a line for every ignored key.
/// @throws InputError with up to ten findings, one per line.
void resolve_against_keys(Document& document, const KeyTable& table, std::vector<std::string>& notes);

} // namespace recoil::app
