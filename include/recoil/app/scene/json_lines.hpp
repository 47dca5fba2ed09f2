#pragma once

#include <map>
#include <string>

namespace recoil::app {

/// Where every value of a JSON text stands, and what the parser would swallow in silence.
struct JsonLines {
  std::map<std::string, int> lines; ///< JSON pointer -> line (from 1) of its key, or of the value in lists
  std::string duplicate; ///< JSON pointer of the first key that occurs twice in its object; empty if none
};

/// Scans a text that parse_json() has accepted.
JsonLines scan_json_lines(const std::string& text);

/// A key as a part of a JSON pointer (`~` and `/` escaped).
std::string escape_pointer(const std::string& key);

/// Line and column (from 1) of a byte of a text.
std::pair<int, int> line_and_column(const std::string& text, std::size_t byte);

} // namespace recoil::app
