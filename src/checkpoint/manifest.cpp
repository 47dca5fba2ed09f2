#include "checkpoint/manifest.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/json_depth.hpp"

namespace recoil::checkpoint {
namespace {

// Keeps the order of keys, so that texts come back as they were given.
using Json = nlohmann::ordered_json;

// 2: the metadata of a run tells what it was begun with, and each of its steps what happened in it.
constexpr int format_version = 2;
constexpr std::string_view head_begin = "{\"crc32\": \"", head_end = "\",\n";
constexpr std::size_t head_length = head_begin.size() + 8 + head_end.size();

std::uint32_t checksum(std::string_view text) {
  return crc32(std::as_bytes(std::span(text.data(), text.size())));
}

std::string hexadecimal(std::uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

std::uint32_t from_hexadecimal(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 8 || error != std::errc() || end != text.data() + text.size() ||
      hexadecimal(value) != text)
    throw std::invalid_argument("a checksum is not eight hexadecimal digits");
  return value;
}

template <class Value>
struct Name {
  Value value;
  const char* name;
};
constexpr Name<io::Centre> centres[] = {
    {io::Centre::node, "node"}, {io::Centre::cell, "cell"}, {io::Centre::none, "none"}};
constexpr Name<StateEntry::Kept> keepings[] = {{StateEntry::Kept::no, "no"},
                                               {StateEntry::Kept::stored, "stored"},
                                               {StateEntry::Kept::history, "history"}};
constexpr Name<io::ElementType> types[] = {{io::ElementType::float64, "float64"},
                                           {io::ElementType::int32, "int32"},
                                           {io::ElementType::int64, "int64"}};

template <class Value, std::size_t size>
const char* name_of(const Name<Value> (&table)[size], Value value) {
  return std::find_if(table, table + size, [&](const auto& row) { return row.value == value; })->name;
}

template <class Value, std::size_t size>
Value value_of(const Name<Value> (&table)[size], const std::string& name) {
  const auto* row = std::find_if(table, table + size, [&](const auto& entry) { return name == entry.name; });
  if (row == table + size) throw std::invalid_argument("unknown word '" + name + "'");
  return row->value;
}

Json to_json(const StateEntry& entry) {
  const stepping::StepRecord& record = entry.record;
  const int order = record.coefficients.order;
  Json json = {{"id", record.id}};
  if (record.completes_nominal) json["step"] = record.nominal_step;
  json["time"] = record.time;
  json["dt"] = record.dt;
  json["from"] = record.predecessors();
  json["a"] = std::span(record.coefficients.a).first(order);
  json["b"] = order > 0 ? record.coefficients.b : 0;
  json["kept"] = name_of(keepings, entry.kept);
  if (entry.fields >= 0) json["fields"] = entry.fields;
  if (entry.extra != "{}") json["extra"] = Json::parse(entry.extra);
  return json;
}

StateEntry state_from(const Json& json) {
  StateEntry entry;
  stepping::StepRecord& record = entry.record;
  record.id = json.at("id");
  record.completes_nominal = json.contains("step");
  if (record.completes_nominal) json["step"].get_to(record.nominal_step);
  record.time = json.at("time");
  record.dt = json.at("dt");
  const auto from = json.at("from").get<std::vector<GlobalIndex>>();
  const auto a = json.at("a").get<std::vector<double>>();
  if (std::max(from.size(), a.size()) > stepping::max_bdf_order)
    throw std::invalid_argument("a step has too many states before it");
  record.num_predecessors = static_cast<int>(from.size());
  std::ranges::copy(from, record.predecessor_ids.begin());
  record.coefficients.order = static_cast<int>(a.size());
  std::ranges::copy(a, record.coefficients.a.begin());
  if (!a.empty()) json.at("b").get_to(record.coefficients.b);
  entry.kept = value_of(keepings, json.at("kept").get<std::string>());
  entry.fields = json.value("fields", -1);
  if (json.contains("extra")) entry.extra = json["extra"].dump();
  return entry;
}

Json digest_to_json(const FileEntry& file) {
  return {{"name", file.name}, {"bytes", file.digest.bytes}, {"crc32", hexadecimal(file.digest.crc32)}};
}

void digest_from(const Json& json, FileEntry& file) {
  file.name = json.at("name");
  // A file of the trajectory lies in its folder; the name becomes a path, also of what is removed.
  if (file.name.empty() || file.name == "." || file.name == ".." || file.name.find('/') != file.name.npos ||
      file.name.find('\0') != file.name.npos)
    throw std::invalid_argument("'" + file.name + "' is not the plain name of a file beside it");
  file.digest = {json.at("bytes"), from_hexadecimal(json.at("crc32").get<std::string>())};
}

Json to_json(const MeshFile& mesh) {
  Json json = digest_to_json(mesh);
  json["cells"] = mesh.cells;
  if (mesh.shape) json["shape"] = static_cast<std::int32_t>(*mesh.shape);
  for (const StaticEntry& array : mesh.arrays)
    json["arrays"].push_back({{"name", array.name},
                              {"rows", array.shape.rows},
                              {"columns", array.shape.columns},
                              {"type", name_of(types, array.shape.type)},
                              {"centre", name_of(centres, array.centre)}});
  return json;
}

MeshFile mesh_from(const Json& json) {
  MeshFile mesh;
  digest_from(json, mesh);
  mesh.cells = json.at("cells");
  if (json.contains("shape")) mesh.shape = static_cast<io::CellShape>(json["shape"].get<std::int32_t>());
  for (const Json& array : json.at("arrays"))
    mesh.arrays.push_back(
        {array.at("name"),
         {array.at("rows"), array.at("columns"), value_of(types, array.at("type").get<std::string>())},
         value_of(centres, array.at("centre").get<std::string>())});
  return mesh;
}

std::string line_of(const StateFile& file) {
  Json json = digest_to_json(file);
  json["restart"] = file.restart;
  std::string line = json.dump();
  // One state per line, for people who look into the file.
  line.back() = ',';
  line += "\"states\":[";
  for (const StateEntry& entry : file.states)
    line += (&entry == &file.states.front() ? "\n  " : ",\n  ") + to_json(entry).dump();
  return line + "]}";
}

StateFile file_from(const Json& json) {
  StateFile file;
  digest_from(json, file);
  file.restart = json.at("restart").get<std::vector<GlobalIndex>>();
  for (const Json& state : json.at("states")) file.states.push_back(state_from(state));
  return file;
}

Manifest manifest_from(const Json& json) {
  if (json.at("format") != "recoil trajectory") throw std::invalid_argument("it is in another format");
  Manifest manifest;
  manifest.metadata = json.at("metadata").dump();
  manifest.mesh = mesh_from(json.at("mesh"));
  for (const Json& list : json.at("field_lists")) {
    std::vector<FieldEntry> fields;
    for (const Json& field : list)
      fields.push_back({field.at("name"), field.at("components"),
                        value_of(centres, field.at("centre").get<std::string>()), field.at("restart"),
                        field.at("rows")});
    manifest.field_lists.push_back(std::move(fields));
  }
  for (const Json& file : json.at("files")) manifest.files.push_back(file_from(file));
  return manifest;
}

} // namespace

std::string Manifest::to_text() const {
  Json lists = Json::array();
  for (const auto& list : field_lists) {
    Json fields = Json::array();
    for (const FieldEntry& field : list)
      fields.push_back({{"name", field.name},
                        {"components", field.components},
                        {"centre", name_of(centres, field.centre)},
                        {"restart", field.restart},
                        {"rows", field.rows}});
    lists.push_back(std::move(fields));
  }
  std::string text = "\"format\": \"recoil trajectory\", \"version\": " + std::to_string(format_version) +
                     ",\n\"metadata\": " + Json::parse(metadata).dump() +
                     ",\n\"mesh\": " + to_json(mesh).dump() + ",\n\"field_lists\": " + lists.dump() +
                     ",\n\"files\": [";
  for (const StateFile& file : files) {
    if (file.line.empty()) file.line = line_of(file);
    text += (&file == &files.front() ? "\n" : ",\n") + file.line;
  }
  text += "\n]}\n";
  return std::string(head_begin) + hexadecimal(checksum(text)) + std::string(head_end) + text;
}

Manifest Manifest::parse(const std::string& text, const std::filesystem::path& path) {
  const std::string remedy =
      ". Put a sound copy of this file in its place, or start the run again in a new folder";
  const std::string_view view = text;
  const bool framed = view.size() > head_length && view.starts_with(head_begin) &&
                      view.substr(head_length - head_end.size(), head_end.size()) == head_end;
  if (!framed || hexadecimal(checksum(view.substr(head_length))) != view.substr(head_begin.size(), 8))
    throw FileError(path.string() +
                    ": the manifest of the trajectory is damaged: its checksum does not hold" + remedy);
  try {
    // The checksum is the first member; without it the object opens one character before the rest.
    std::string rest = text.substr(head_length - 1);
    rest.front() = '{';
    require_shallow_json(rest, path);
    const Json json = Json::parse(rest);
    if (const int found = json.at("version"); found != format_version)
      throw FileError(path.string() + ": the trajectory was written by another version of recoil (format " +
                      std::to_string(found) + ", this one reads " + std::to_string(format_version) +
                      "). Continue with that version, or start the run again in a new folder");
    return manifest_from(json);
  } catch (const std::invalid_argument& wrong) {
    throw FileError(path.string() + ": cannot use the manifest of the trajectory: " + wrong.what() + remedy);
  } catch (const Json::exception&) {
    throw FileError(path.string() + ": the manifest of the trajectory is not of this version of recoil" +
                    remedy);
  }
}

int Manifest::field_list(const std::vector<FieldEntry>& list) {
  const int index = std::ranges::find(field_lists, list) - field_lists.begin();
  if (index == std::ssize(field_lists)) field_lists.push_back(list);
  return index;
}

StateIndex::StateIndex(const Manifest& manifest) {
  GlobalIndex completed = 0;
  for (std::size_t number = 0; number < manifest.files.size(); ++number)
    for (const StateEntry& entry : manifest.files[number].states) {
      stepping::StepRecord& record = records_.emplace_back(entry.record);
      // Files name the nominal step only where it ends.
      if (!record.completes_nominal) record.nominal_step = completed + 1;
      completed = record.completes_nominal ? record.nominal_step : completed;
      extras_.push_back(entry.extra);
      locations_.emplace_back();
      if (entry.kept != StateEntry::Kept::no)
        locations_.back() = {number, state_group(entry.record.id, entry.kept), entry.fields, entry.kept};
    }
}

const std::optional<StateLocation>& StateIndex::location(GlobalIndex id) const {
  RECOIL_ASSERT(id >= 0 && id < std::ssize(locations_));
  return locations_[id];
}

std::string state_file_name(std::size_t number) {
  char name[40];
  std::snprintf(name, sizeof name, "states_%05zu.h5", number);
  return name;
}

std::string state_group(GlobalIndex id, StateEntry::Kept kept) {
  return (kept == StateEntry::Kept::history ? "history/" : "states/") + std::to_string(id);
}

io::XdmfMesh xdmf_mesh(const Manifest& manifest) {
  const MeshFile& mesh = manifest.mesh;
  const auto array = [&](const StaticEntry& entry) {
    return io::XdmfArray{mesh.name, entry.name, entry.shape};
  };
  io::XdmfMesh result;
  result.cells = mesh.cells;
  result.shape = mesh.shape;
  for (const StaticEntry& entry : mesh.arrays) {
    if (entry.name == "coordinates")
      result.geometry = array(entry);
    else if (entry.name == "connectivity")
      result.topology = array(entry);
    else
      result.attributes.push_back({entry.name, entry.centre, array(entry)});
  }
  return result;
}

std::vector<io::XdmfState> xdmf_states(const Manifest& manifest, const StateFile& file) {
  std::vector<io::XdmfState> states;
  for (const StateEntry& entry : file.states) {
    if (entry.kept != StateEntry::Kept::stored) continue;
    const stepping::StepRecord& record = entry.record;
    io::XdmfState state{"state " + std::to_string(record.id), record.time, {}};
    if (record.completes_nominal) state.name = "step " + std::to_string(record.nominal_step);
    for (const FieldEntry& field : manifest.field_lists[entry.fields])
      state.attributes.push_back({field.name,
                                  field.centre,
                                  {file.name,
                                   state_group(record.id, entry.kept) + "/" + field.name,
                                   {field.rows, field.columns(), io::ElementType::float64}}});
    states.push_back(std::move(state));
  }
  return states;
}

} // namespace recoil::checkpoint
