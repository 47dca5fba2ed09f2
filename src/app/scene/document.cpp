#include "recoil/app/scene/document.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "app/scene/json_patch.hpp"
#include "app/scene/parse_json.hpp"
#include "recoil/app/scene/json_lines.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string read_text(const fs::path& file, const std::string& where) {
  std::error_code error;
  if (!fs::exists(file, error)) throw InputError(where, "no such file");
  if (!fs::is_regular_file(file, error)) throw InputError(where, "is not a file");
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw FileError(file.string() + ": cannot be read");
  return text.str();
}

json parse(const std::string& text, const std::string& name, const KeyTable& table, Locations& locations) {
  json root = parse_json(text, name, table.kind);
  const auto scan = scan_json_lines(text);
  for (const auto& [pointer, line] : scan.lines) locations.set(pointer, name, line);
  if (!scan.duplicate.empty())
    throw InputError(locations.describe(scan.duplicate), "this key occurs twice in its object; keep one");
  if (!root.is_object()) throw InputError(name, std::string("a ") + table.kind + " is a JSON object {..}");
  return root;
}

/// RFC 7396, keeping account of where everything comes from.
void merge(json& base, Locations& places, const json& overlay, const Locations& overlay_places,
           const std::string& pointer) {
  if (!overlay.is_object()) {
    base = overlay;
    places.replace(pointer, overlay_places);
    return;
  }
  if (!base.is_object()) {
    base = json::object();
    places.replace(pointer, overlay_places);
  }
  for (const auto& [name, value] : overlay.items()) {
    const auto child = pointer + "/" + escape_pointer(name);
    if (value.is_null()) {
      base.erase(name);
      places.erase(child);
    } else {
      merge(base[name], places, value, overlay_places, child);
    }
  }
}

std::string take_text(json& root, const char* name, const Locations& places) {
  const auto it = root.find(name);
  if (it == root.end()) return "";
  if (!it->is_string())
    throw InputError(places.describe(std::string("/") + name), "must be a text, is " + it->dump());
  auto text = it->get<std::string>();
  root.erase(it);
  return text;
}

void apply_patch(Document& document, const json& patch) {
  apply_json_patch(document.root, patch, document.locations);
  for (const auto& operation : patch) document.locations.erase(operation["path"].get<std::string>());
  document.locations.erase("/patch");
}

Document load(const std::string& text, const std::string& name, const fs::path& folder, const KeyTable& table,
              std::vector<fs::path>& including);

Document load_file(const fs::path& file, const std::string& where, const KeyTable& table,
                   std::vector<fs::path>& including) {
  const auto text = read_text(file, where);
  const auto canonical = fs::canonical(file);
  if (std::find(including.begin(), including.end(), canonical) != including.end()) {
    std::string chain;
    for (const auto& link : including) chain += link.filename().string() + " -> ";
    throw InputError(where, "`common` goes in a circle: " + chain + canonical.filename().string());
  }
  including.push_back(canonical);
  auto document =
      load(text, file.string(), fs::absolute(file).lexically_normal().parent_path(), table, including);
  including.pop_back();
  document.file = file;
  return document;
}

Document load(const std::string& text, const std::string& name, const fs::path& folder, const KeyTable& table,
              std::vector<fs::path>& including) {
  Document own;
  own.folder = folder;
  own.root = parse(text, name, table, own.locations);
  if (!table.inherits()) return own;
  const auto common_place = own.locations.describe("/common");
  const auto common = take_text(own.root, "common", own.locations);
  if (own.root.contains("root_path")) {
    auto& root_path = own.root["root_path"];
    if (!root_path.is_string())
      throw InputError(own.locations.describe("/root_path"), "must be a text, is " + root_path.dump());
    auto start = (folder / root_path.get<std::string>()).lexically_normal();
    if (fs::is_regular_file(start)) start = start.parent_path();
    if (!fs::is_directory(start))
      throw InputError(own.locations.describe("/root_path"), "no such folder: " + start.string());
    root_path = start.string();
  }
  auto patch = own.root.value("patch", json());
  own.root.erase("patch");

  Document result;
  if (common.empty()) {
    result = std::move(own);
  } else {
    const auto base_file = (folder / common).lexically_normal();
    result = load_file(base_file, common_place + ": common scene " + base_file.string(), table, including);
    // Norms belong to the scene that was run to get them; only the number of steps is inherited.
    if (auto tests = result.root.find("tests"); tests != result.root.end() && tests->is_object())
      for (auto it = tests->begin(); it != tests->end();)
        it = it.key() == "time_steps" ? std::next(it) : tests->erase(it);
    merge(result.root, result.locations, own.root, own.locations, "");
    if (!patch.is_null()) result.locations.replace("/patch", own.locations);
    result.folder = folder;
  }
  if (!patch.is_null()) apply_patch(result, patch);
  return result;
}

void settle_folder(Document& document, const KeyTable& table) {
  if (!table.inherits()) return;
  if (auto it = document.root.find("root_path"); it != document.root.end()) {
    document.folder = it->get<std::string>();
    document.root.erase(it);
  }
}

} // namespace

Document load_document(const fs::path& file, const KeyTable& table) {
  std::vector<fs::path> including;
  auto document = load_file(file, file.string(), table, including);
  settle_folder(document, table);
  return document;
}

Document document_from_text(const std::string& text, const std::string& name, const fs::path& folder,
                            const KeyTable& table) {
  std::vector<fs::path> including;
  auto document = load(text, name, fs::absolute(folder).lexically_normal(), table, including);
  document.file = name;
  settle_folder(document, table);
  return document;
}

Document resolved_document(const std::string& resolved, const std::string& locations, const fs::path& path) {
  return {nlohmann::json::parse(resolved), Locations::from_text(locations), path,
          fs::absolute(path).parent_path()};
}

} // namespace recoil::app
