#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "mesh/input/gmsh_part.hpp"

namespace recoil::mesh {

namespace {

/// An element of an entity with several groups.
struct GroupedElement {
  std::array<std::int64_t, 4> key; ///< descending vertices
  std::int64_t number;
  std::int32_t group, entity, rank;
};

/// Entities whose elements are in several groups. Collective.
std::set<std::int32_t> entities_of_several_groups(const parallel::Communicator& comm,
                                                  const ReadSimplices& cells) {
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::size_t i = 0; i < cells.groups.size(); ++i) pairs.emplace(cells.entities[i], cells.groups[i]);
  std::vector<GlobalIndex> own;
  for (const auto& [entity, group] : pairs) own.insert(own.end(), {entity, group});
  std::map<std::int32_t, std::set<GlobalIndex>> groups_of;
  const std::vector<GlobalIndex> all = comm.all_gather_parts(own);
  for (std::size_t k = 0; k < all.size(); k += 2) groups_of[std::int32_t(all[k])].insert(all[k + 1]);
  std::set<std::int32_t> several;
  for (const auto& [entity, groups] : groups_of)
    if (groups.size() > 1) several.insert(entity);
  return several;
}

/// What becomes of an element: its group, or none if it repeats another one.
struct Merged {
  std::int64_t number;
  std::int32_t group;
  bool repeats;
};

/// Elements with the same vertices, in their order.
void merge_twins(std::span<const GroupedElement> twins, int dim, GmshGroups& groups,
                 std::vector<std::vector<Merged>>& merged) {
  std::vector<std::int32_t> own_groups, own_entities;
  for (const GroupedElement& twin : twins) {
    own_groups.push_back(twin.group);
    own_entities.push_back(twin.entity);
  }
  if (!GmshGroups::is_one_element(own_groups, own_entities)) return;
  merged[twins[0].rank].push_back({twins[0].number, groups.choose(dim, own_groups), false});
  for (const GroupedElement& twin : twins.subspan(1)) merged[twin.rank].push_back({twin.number, 0, true});
}

} // namespace

void merge_repeats(const parallel::Communicator& comm, const Blocks& blocks, int dim, ReadPart& part) {
  ReadSimplices& cells = part.simplices[dim];
  const std::set<std::int32_t> several = entities_of_several_groups(comm, cells);
  if (several.empty()) return;
  const GlobalIndex first = comm.exclusive_scan(GlobalIndex(cells.corners.size()));
  std::vector<std::vector<GroupedElement>> outgoing(comm.size());
  for (std::size_t i = 0; i < cells.corners.size(); ++i) {
    if (!several.contains(cells.entities[i])) continue;
    auto key = cells.corners[i];
    std::ranges::sort(key, std::greater<>());
    outgoing[blocks.of(key[0])].push_back(
        {key, first + std::int64_t(i), cells.groups[i], cells.entities[i], comm.rank()});
  }
  std::vector<GroupedElement> all;
  for (const auto& given : parallel::exchange(comm, outgoing))
    all.insert(all.end(), given.begin(), given.end());
  std::ranges::sort(all, {}, [](const GroupedElement& e) { return std::pair(e.key, e.number); });
  std::vector<std::vector<Merged>> merged(comm.size());
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [&](const auto& e) { return e.key != begin->key; });
    merge_twins(std::span<const GroupedElement>(begin, end), dim, part.groups, merged);
    begin = end;
  }
  std::vector<char> repeats(cells.corners.size(), 0);
  for (const auto& given : parallel::exchange(comm, merged))
    for (const Merged& element : given) {
      repeats[element.number - first] = element.repeats;
      if (!element.repeats) cells.groups[element.number - first] = element.group;
    }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i]) continue;
    cells.corners[kept] = cells.corners[i];
    cells.groups[kept++] = cells.groups[i];
  }
  cells.corners.resize(kept);
  cells.groups.resize(kept);
}

} // namespace recoil::mesh
