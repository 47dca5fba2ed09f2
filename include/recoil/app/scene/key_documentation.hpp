#pragma once

#include <string>

#include "recoil/app/scene/keys.hpp"

namespace recoil::app {

/// JSON Schema (draft 2020-12) of the files that the table describes.
std::string json_schema(const KeyTable& table);

/// Reference of all keys: the page of the table with a table of rows for every section.
std::string markdown(const KeyTable& table);

/// Puts `text` in the place of the line `@name@` of a page. @pre there is one.
void fill_in(std::string& page, const std::string& name, const std::string& text);

/// Text that may stand in a cell of a Markdown table.
std::string table_cell(const std::string& text);

} // namespace recoil::app
