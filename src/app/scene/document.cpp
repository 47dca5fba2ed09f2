#include "recoil/app/scene/document.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "app/scene/json_patch.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"

namespace recoil::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Every value takes about a hundred times as much memory as its text once it is parsed.
constexpr long max_json_values = 1'000'000;
constexpr std::uintmax_t max_json_bytes = 64u << 20;
constexpr long max_common_files = 32;

std::string read_text(const fs::path& file, const std::string& where) {
  std::error_code error;
  if (!fs::exists(file, error)) throw InputError(where, "no such file");
  if (!fs::is_regular_file(file, error)) throw InputError(where, "is not a file");
  if (const auto bytes = fs::file_size(file, error); !error && bytes > max_json_bytes)
    throw InputError(where,
                     "has " + std::to_string(bytes >> 20) + " MiB, more than the " +
                         std::to_string(max_json_bytes >> 20) +
                         " MiB that a scene or study may have; large arrays belong in files of their own");
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw FileError(file.string() + ": cannot be read");
  return text.str();
}

/// The parser's own words without its name, its numbers and what it was doing.
std::string reason_of(const json::exception& error) {
  std::string text = error.what();
  if (const auto dash = text.find(" - "); dash != std::string::npos)
    text.erase(0, dash + 3);
  else if (const auto bracket = text.find("] "); bracket != std::string::npos)
    text.erase(0, bracket + 2);
  return text.size() > 160 ? text.substr(0, 160) + " .." : text;
}

/// Line and column (from 1) of a byte of a text.
std::pair<long, long> line_and_column(const std::string& text, std::size_t byte) {
  const std::string before = text.substr(0, byte);
  return {1 + std::ranges::count(before, '\n'), before.size() - (before.rfind('\n') + 1) + 1};
}

/// Walks through a text once before anything is built from it; knows where it is.
class Checker : public nlohmann::json_sax<json> {
public:
  /// @param name of the file, @param kind "scene" or "study", for messages.
  /// @param values read so far, of all files of a scene.
  Checker(const std::string& text, const std::string& name, const std::string& kind, Locations& locations,
          long& values)
      : text_(text), name_(name), kind_(kind), locations_(locations), values_(&values) {}

  /// Notes where every value stands: the line of its key, or in lists its own.
  /// @throws InputError with file:line:column (and JSON pointer where a value is the trouble) if the text is
  /// not valid JSON, holds a number that double precision does not, has a key twice in an object, is nested
  /// deeper than max_json_depth, or holds more than max_json_values.
  void run() {
    counted_ = last_read_ = text_.data();
    json::sax_parse(Characters{text_.data(), &last_read_}, Characters{text_.data() + text_.size(), nullptr},
                    this);
  }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return enter({"", -1}); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter({"", 0}); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    path_.back().key = name;
    const std::string place = pointer();
    locations_.set(place, name_, line());
    if (!keys_.insert(place).second)
      throw InputError(locations_.describe(place), "this key occurs twice in its object; keep one");
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const json::exception& error) override {
    // The parser stands behind what it has read last.
    const bool is_number = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    const std::size_t read = is_number ? token.size() : 1;
    const auto [line, column] = line_and_column(text_, position > read ? position - read : 0);
    const std::string place = name_ + ":" + std::to_string(line) + ":" + std::to_string(column);
    if (is_number)
      throw InputError(place + " (" + described() + ")",
                       "not valid JSON here: the number " + token.substr(0, 40) +
                           (token.size() > 40 ? ".." : "") +
                           " is too large for double precision; give one below 1.8e308");
    throw InputError(place, "not valid JSON: " + reason_of(error));
  }

private:
  /// The characters of the text for the parser, which does not tell how far it has come.
  struct Characters {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;
    const char* at;
    const char** last_read;

    reference operator*() const { return *at; }
    Characters& operator++() {
      *last_read = at++;
      return *this;
    }
    bool operator==(const Characters& other) const { return at == other.at; }
  };
  struct Level {
    std::string key;
    long index; ///< -1 in an object
  };

  std::string pointer() const {
    std::string pointer;
    for (const Level& level : path_)
      pointer += "/" + (level.index < 0 ? escape_pointer(level.key) : std::to_string(level.index));
    return pointer;
  }
  std::string described() const { return path_.empty() ? "the whole file" : pointer(); }
  /// The line of the value that was read last; the parser reads one character beyond a number.
  int line() {
    line_ += std::count(counted_, last_read_, '\n');
    counted_ = last_read_;
    return line_;
  }
  void note_place() {
    if (path_.empty() || path_.back().index >= 0) locations_.set(pointer(), name_, line());
  }
  bool value() {
    if (++*values_ > max_json_values)
      throw InputError(name_ + " (" + described() + ")",
                       "holds more than " + std::to_string(max_json_values) + " values, more than any " +
                           kind_ + "; large arrays belong in files of their own");
    note_place();
    return next();
  }
  bool next() {
    if (!path_.empty() && path_.back().index >= 0) ++path_.back().index;
    return true;
  }
  bool enter(Level level) {
    if (std::ssize(path_) >= max_json_depth)
      throw InputError(name_ + " (" + described() + ")", "nested deeper than any " + kind_);
    note_place();
    path_.push_back(std::move(level));
    return true;
  }
  bool leave() {
    path_.pop_back();
    return next();
  }

  const std::string &text_, &name_;
  std::string kind_;
  Locations& locations_;
  std::vector<Level> path_;
  std::set<std::string> keys_;
  long* values_;
  const char *counted_ = nullptr, *last_read_ = nullptr;
  int line_ = 1;
};

/// Files that are being read, from the one that is run to its `common` of `common` .., and what they hold.
struct Reading {
  std::vector<fs::path> including;
  long values = 0;
};

json parse(const std::string& text, const std::string& name, const KeyTable& table, Locations& locations,
           long& values) {
  Checker(text, name, table.kind, locations, values).run();
  json root = json::parse(text);
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
              Reading& reading);

Document load_file(const fs::path& file, const std::string& where, const KeyTable& table, Reading& reading) {
  const auto text = read_text(file, where);
  const auto canonical = fs::canonical(file);
  auto& including = reading.including;
  if (std::ssize(including) >= max_common_files)
    throw InputError(where, "`common` goes through more than " + std::to_string(max_common_files) +
                                " files; merge some of them");
  if (holds(including, canonical)) {
    std::string chain;
    for (const auto& link : including) chain += link.filename().string() + " -> ";
    throw InputError(where, "`common` goes in a circle: " + chain + canonical.filename().string());
  }
  including.push_back(canonical);
  auto document =
      load(text, file.string(), fs::absolute(file).lexically_normal().parent_path(), table, reading);
  including.pop_back();
  document.file = file;
  return document;
}

Document load(const std::string& text, const std::string& name, const fs::path& folder, const KeyTable& table,
              Reading& reading) {
  Document own;
  own.folder = folder;
  own.root = parse(text, name, table, own.locations, reading.values);
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
    result = load_file(base_file, common_place + ": common scene " + base_file.string(), table, reading);
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
  Reading reading;
  auto document = load_file(file, file.string(), table, reading);
  settle_folder(document, table);
  return document;
}

Document document_from_text(const std::string& text, const std::string& name, const fs::path& folder,
                            const KeyTable& table) {
  Reading reading;
  auto document = load(text, name, fs::absolute(folder).lexically_normal(), table, reading);
  document.file = name;
  settle_folder(document, table);
  return document;
}

Document resolved_document(const std::string& resolved, const std::string& locations, const fs::path& path) {
  return {nlohmann::json::parse(resolved),
          Locations::from_text(locations),
          path,
          fs::absolute(path).parent_path(),
          {}};
}

} // namespace recoil::app
