#include "mesh/input/gmsh.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace recoil::mesh {

void GmshGroups::read_names(std::string_view lines) {
  std::istringstream text{std::string(lines)};
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line);
    int dim = 0;
    std::int32_t group = 0;
    if (!(fields >> dim >> group)) continue;
    const auto begin = line.find('"'), end = line.rfind('"');
    if (begin < end) names_[{dim, group}] = line.substr(begin, end - begin + 1);
  }
}

std::map<std::pair<int, std::int32_t>, std::string> GmshGroups::names_without_quotes() const {
  auto names = names_;
  for (auto& [group, name] : names) name = name.substr(1, name.size() - 2);
  return names;
}

std::int32_t GmshGroups::choose(int dim, std::span<const std::int32_t> groups) {
  if (groups.empty()) return 0;
  if (groups.size() > 1) {
    std::vector<std::int32_t> all(groups.begin(), groups.end());
    std::sort(all.begin(), all.end());
    ++shared_[dim][all];
  }
  return *std::min_element(groups.begin(), groups.end());
}

std::int32_t GmshGroups::choose_of_type(int type, std::span<const std::int32_t> groups) {
  const int linear = gmsh_linear_type(type);
  const bool has_id = linear == 1 || linear == 2 || linear == 4;
  return has_id ? choose(gmsh_dimension(type), groups) : 0;
}

bool GmshGroups::is_one_element(std::span<const std::int32_t> groups,
                                std::span<const std::int32_t> entities) {
  const std::set<std::int32_t> numbers(groups.begin(), groups.end());
  return groups.size() > 1 && numbers.size() == groups.size() && !numbers.contains(0) &&
         std::ranges::all_of(entities, [&](std::int32_t entity) { return entity == entities[0]; });
}

void GmshGroups::merge_repeats(RawMesh& mesh) {
  merge_repeats(2, mesh.triangles, mesh.triangle_tags);
  merge_repeats(3, mesh.tetrahedra, mesh.tetrahedron_tags);
}

template <std::size_t n>
void GmshGroups::merge_repeats(int dim, std::vector<std::array<std::int32_t, n>>& items,
                               std::vector<std::int32_t>& groups) {
  const auto& entities = entities_[dim];
  if (entities.size() != items.size()) return;
  std::map<std::int32_t, std::set<std::int32_t>> groups_of;
  for (std::size_t i = 0; i < items.size(); ++i) groups_of[entities[i]].insert(groups[i]);
  // Most files have one group per entity and nothing to merge: only the others go the long way.
  std::erase_if(groups_of, [](const auto& entry) { return entry.second.size() < 2; });
  if (groups_of.empty()) return;
  std::map<std::array<std::int32_t, n>, std::vector<std::size_t>> by_vertices;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!groups_of.contains(entities[i])) continue;
    auto key = items[i];
    std::sort(key.begin(), key.end());
    by_vertices[key].push_back(i);
  }
  std::vector<char> repeats(items.size(), 0);
  for (const auto& [vertices, twins] : by_vertices) {
    std::vector<std::int32_t> own_groups, own_entities;
    for (const std::size_t i : twins) {
      own_groups.push_back(groups[i]);
      own_entities.push_back(entities[i]);
    }
    if (!is_one_element(own_groups, own_entities)) continue;
    groups[twins[0]] = choose(dim, own_groups);
    for (std::size_t k = 1; k < twins.size(); ++k) repeats[twins[k]] = 1;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (repeats[i]) continue;
    items[kept] = items[i];
    groups[kept++] = groups[i];
  }
  items.resize(kept);
  groups.resize(kept);
}

void GmshGroups::add_up(const parallel::Communicator& comm) {
  // Of each entry: dimension, count of elements, count of groups, the groups.
  std::vector<GlobalIndex> own;
  for (std::size_t dim = 0; dim < shared_.size(); ++dim)
    for (const auto& [groups, count] : shared_[dim]) {
      own.insert(own.end(), {GlobalIndex(dim), GlobalIndex(count), std::ssize(groups)});
      own.insert(own.end(), groups.begin(), groups.end());
    }
  shared_ = {};
  const std::vector<GlobalIndex> all = comm.all_gather_parts(own);
  for (auto entry = all.begin(); entry != all.end(); entry += 3 + entry[2]) {
    const std::vector<std::int32_t> groups(entry + 3, entry + 3 + entry[2]);
    shared_[entry[0]][groups] += std::size_t(entry[1]);
  }
}

std::string GmshGroups::describe(int dim, const std::vector<std::int32_t>& groups) const {
  std::string text;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    text += (k == 0 ? "" : k + 1 < groups.size() ? ", " : " and ") + std::to_string(groups[k]);
    if (const auto name = names_.find({dim, groups[k]}); name != names_.end()) text += ' ' + name->second;
  }
  return text;
}

std::string GmshGroups::warning(int dim, const std::string& file) const {
  if (shared_[dim].empty()) return "";
  std::string text;
  for (const auto& [groups, count] : shared_[dim])
    text += (text.empty() ? "" : "; ") + std::to_string(count) + " to " + describe(dim, groups);
  return file + ": elements belong to several physical groups: " + text +
         ". The lowest number is the id of an element, the others select none of these: give materials and "
         "conditions by the lowest, or take the groups that overlap out of the file";
}

} // namespace recoil::mesh
