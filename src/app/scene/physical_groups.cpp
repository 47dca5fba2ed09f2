#include "app/scene/physical_groups.hpp"

#include <map>
#include <optional>

#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/mesh/input/group_names.hpp"

namespace recoil::app {

namespace {

using nlohmann::json;

enum class Groups { volumes, facets };

/// The groups of the mesh of one entry of `geometry`.
struct MeshGroups {
  std::string where; ///< of the entry
  std::string file;
  std::map<std::string, int> volumes, facets; ///< numbers by name, as materials and conditions see them
  bool replaces_facets = false;               ///< a selection stands in the place of the groups

  const std::map<std::string, int>& of(Groups kind) const {
    return kind == Groups::volumes ? volumes : facets;
  }
};

/// What a selection adds to the ids of the file; empty where it replaces them.
std::optional<int> offset_of(const json& entry, const char* selection) {
  if (!entry.contains(selection)) return 0;
  const json& list = entry[selection];
  if (!list.is_array() || list.size() != 1 || list[0].contains("id") || !list[0].contains("id_offset"))
    return {};
  return list[0]["id_offset"].get<int>();
}

class NamedGroups {
public:
  explicit NamedGroups(Document& document) : document_(document) {}

  void number_all() {
    json& root = document_.root;
    for (std::size_t k = 0; k < root["geometry"].size(); ++k) {
      if (!root["geometry"][k].value("enabled", true)) continue; // its mesh need not exist
      for (const auto& [selection, kind] :
           {std::pair{"volume_selection", Groups::volumes}, std::pair{"surface_selection", Groups::facets}})
        number_selection(root["geometry"][k], k, selection, kind);
    }
    if (root.contains("materials")) number_entries(root["materials"], "/materials", Groups::volumes, false);
    for (const char* part : {"velocity", "solution", "acceleration", "angular_velocity"})
      if (root.contains("initial_conditions") && root["initial_conditions"].contains(part))
        number_entries(root["initial_conditions"][part], std::string("/initial_conditions/") + part,
                       Groups::volumes, false);
    for (const char* part : {"dirichlet_boundary", "neumann_boundary", "normal_aligned_neumann_boundary",
                             "rest_pressure_boundary", "pressure_boundary"})
      if (root.contains("boundary_conditions") && root["boundary_conditions"].contains(part))
        number_entries(root["boundary_conditions"][part], std::string("/boundary_conditions/") + part,
                       Groups::facets, part == std::string("dirichlet_boundary"));
  }

private:
  void number_selection(json& entry, std::size_t k, const char* selection, Groups kind) {
    if (!entry.contains(selection) || !entry[selection].is_array()) return;
    for (std::size_t i = 0; i < entry[selection].size(); ++i) {
      json& shape = entry[selection][i];
      if (!shape.is_object() || !shape.contains("group") || !shape["group"].is_string()) continue;
      const std::string pointer =
          "/geometry/" + std::to_string(k) + "/" + selection + "/" + std::to_string(i) + "/group";
      // In a selection a name is that of the file itself.
      const MeshGroups groups = read(entry, k, true);
      const auto found = groups.of(kind).find(shape["group"].get<std::string>());
      if (found == groups.of(kind).end())
        fail(pointer, shape["group"].get<std::string>(), {groups}, kind, "the number of the group");
      shape["group"] = found->second;
    }
  }

  void number_entries(json& entries, const std::string& pointer, Groups kind, bool knows_all) {
    const auto number_entry = [&](json& entry, const std::string& at) {
      if (!entry.is_object() || !entry.contains("id")) return;
      json& id = entry["id"];
      if (id.is_string() && !(knows_all && id == "all"))
        id = number_of(id.get<std::string>(), at + "/id", kind, knows_all);
      if (!id.is_array()) return;
      for (std::size_t i = 0; i < id.size(); ++i)
        if (id[i].is_string())
          id[i] = number_of(id[i].get<std::string>(), at + "/id/" + std::to_string(i), kind, false);
    };
    if (entries.is_object()) return number_entry(entries, pointer);
    for (std::size_t i = 0; i < entries.size(); ++i)
      number_entry(entries[i], pointer + "/" + std::to_string(i));
  }

  int number_of(const std::string& name, const std::string& pointer, Groups kind, bool knows_all) {
    if (!is_read_) {
      const json& geometry = document_.root["geometry"];
      for (std::size_t k = 0; k < geometry.size(); ++k)
        if (geometry[k].value("enabled", true) && !geometry[k].value("is_obstacle", false))
          all_.push_back(read(geometry[k], k, false));
      is_read_ = true;
    }
    const MeshGroups* first = nullptr;
    for (const MeshGroups& groups : all_) {
      const auto found = groups.of(kind).find(name);
      if (found == groups.of(kind).end()) continue;
      if (first && first->of(kind).at(name) != found->second)
        throw InputError(document_.locations.describe(pointer),
                         "'" + name + "' is the physical group " + std::to_string(first->of(kind).at(name)) +
                             " of " + first->file + ", but " + std::to_string(found->second) + " of " +
                             groups.file +
                             "; write the numbers, or give one of the meshes a selection with "
                             "{\"group\": \"" +
                             name + "\", \"id\": ..}");
      if (!first) first = &groups;
    }
    if (!first)
      fail(pointer, name, all_, kind, knows_all ? "an integer, the id, or \"all\"" : "an integer, the id");
    return first->of(kind).at(name);
  }

  MeshGroups read(const json& entry, std::size_t k, bool as_in_file) const {
    MeshGroups groups;
    groups.where = document_.locations.describe("/geometry/" + std::to_string(k));
    groups.file = entry.value("mesh", "");
    if (in_lower_case(std::filesystem::path(groups.file).extension().string()) != ".msh") return groups;
    mesh::GroupNames read;
    try {
      read = mesh::read_group_names(groups.file);
    } catch (const InputError& error) {
      throw InputError(groups.where, error.what());
    }
    const std::optional<int> volume_offset = as_in_file ? 0 : offset_of(entry, "volume_selection"),
                             facet_offset = as_in_file ? 0 : offset_of(entry, "surface_selection");
    groups.replaces_facets = !facet_offset;
    for (const auto& [group, name] : read.names) {
      // Elements that a selection of volumes leaves keep the id of the file.
      if (group.first == read.dim) groups.volumes[name] = group.second + volume_offset.value_or(0);
      if (group.first == read.dim - 1 && facet_offset) groups.facets[name] = group.second + *facet_offset;
    }
    return groups;
  }

  [[noreturn]] void fail(const std::string& pointer, const std::string& name,
                         const std::vector<MeshGroups>& meshes, Groups kind,
                         const std::string& instead) const {
    std::vector<std::string> known;
    std::string selections;
    for (const MeshGroups& groups : meshes) {
      for (const auto& [group, number] : groups.of(kind))
        if (!holds(known, group)) known.push_back(group);
      if (kind == Groups::facets && groups.replaces_facets)
        selections += "; " + groups.where +
                      " has a surface_selection, which stands in the place of the groups of its "
                      "file: add {\"group\": \"" +
                      name +
                      "\", \"id\": ..} to it and write "
                      "this id here";
    }
    const std::string what = kind == Groups::volumes ? "elements" : "boundary facets";
    throw InputError(document_.locations.describe(pointer),
                     "no mesh has a physical group of " + what + " called '" + name + "'" +
                         (known.empty()
                              ? "; none has names of such groups: write " + instead
                              : did_you_mean(name, known) + "; there are " + list_names(known, "and")) +
                         selections);
  }

  Document& document_;
  std::vector<MeshGroups> all_;
  bool is_read_ = false;
};

} // namespace

void number_groups(Document& document) { NamedGroups(document).number_all(); }

} // namespace recoil::app
