#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include "recoil/app/scene/keys.hpp"
#include "recoil/app/scene/locations.hpp"

namespace recoil::app {

/// A scene or study as one JSON value: `common` and `patch` applied where the table of its kind has them,
/// nothing checked yet.
struct Document {
  nlohmann::json root;
  Locations locations;
  std::filesystem::path file;
  std::filesystem::path folder; ///< absolute; what relative paths start from
  UnitSystem units;             ///< of all numbers; known once it is resolved
};

/// Reads a file of the kind that `table` describes and those it inherits from. @throws InputError: no such
/// file, parse error (file:line:column), a key twice in one object, an inheritance cycle, a patch that does
/// not apply.
Document load_document(const std::filesystem::path& file, const KeyTable& table);

/// Does what load_document() does for a text in hand.
Document document_from_text(const std::string& text, const std::string& name,
                            const std::filesystem::path& folder, const KeyTable& table);

/// Checks `document.root` against a table of keys and makes it complete: single values become lists of one
/// where the table says so, numbers with units become numbers in those of the document (the one place where
/// any are converted), paths absolute, defaults are filled in.
/// `notes` receives a line for every ignored key.
/// @throws InputError with up to ten findings, one per line.
void resolve_against_keys(Document& document, const KeyTable& table, std::vector<std::string>& notes);

/// What stands in a document where nothing is written, in its units. @pre the key has a `fallback`.
nlohmann::json default_of(const Key& key, const UnitSystem& units);

/// One that was resolved before: what its resolved form and Locations::to_text() wrote. `path`: of its file.
Document resolved_document(const std::string& resolved, const std::string& locations,
                           const std::filesystem::path& path);

} // namespace recoil::app
