#pragma once

#include <string>

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

/// JSON Schema (draft 2020-12) of the files that the table describes.
std::string json_schema(const KeyTable& table);

/// Reference of all keys: the introduction, then one section with a table of its rows after the other.
std::string markdown(const KeyTable& table);

/// Text that may stand in a cell of a Markdown table.
std::string table_cell(const std::string& text);

} // namespace recoil::app
