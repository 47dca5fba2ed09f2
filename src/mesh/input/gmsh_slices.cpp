#include "mesh/input/gmsh_slices.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "mesh/input/gmsh_fields.hpp"
#include "mesh/input/gmsh_layout.hpp"
#include "mesh/meet_keys.hpp"
#include "recoil/base/log.hpp"
#include "recoil/parallel/ask_owners.hpp"

namespace recoil::mesh {

namespace {

/// Simplices of one dimension, or points, by the tags and then by the numbers of their corners.
struct ReadSimplices {
  std::vector<std::array<std::int64_t, 4>> corners;
  std::vector<std::int32_t> groups, entities;
};

/// What one rank reads of a file.
struct ReadPart {
  std::vector<std::int64_t> node_tags;
  std::vector<Eigen::Vector3d> positions;
  std::array<ReadSimplices, 4> simplices;           ///< by dimension
  std::vector<std::array<std::int64_t, 3>> middles; ///< node in the middle of an edge, ends of the edge
  std::array<bool, 4> refused{};                    ///< whether elements of a dimension are no simplices
  GmshGroups groups;
};

/// Reads the part of this rank. Throws InputError for anything wrong.
class PartReader {
public:
  PartReader(const std::filesystem::path& path, const GmshLayout& layout, int rank, int ranks)
      : file_(path, std::int64_t(1) << 20), layout_(layout), rank_(rank), ranks_(ranks) {}

  ReadPart read() {
    part_.groups.read_names(layout_.sections.names);
    for_own(layout_.nodes, layout_.num_nodes, [&](const GmshBlock& block, std::int64_t from, std::int64_t n) {
      if (!binary() && !version4()) return read_node_lines2(block, from, n);
      version4() ? read_nodes4(block, from, n) : read_nodes2(block, from, n);
    });
    for_own(layout_.elements, layout_.num_elements,
            [&](const GmshBlock& block, std::int64_t from, std::int64_t n) {
              if (!binary() && !version4()) return read_element_lines2(block, from, n);
              version4() ? read_elements4(block, from, n) : read_elements2(block, from, n);
            });
    return std::move(part_);
  }

private:
  bool binary() const { return layout_.sections.format.binary; }
  bool version4() const { return layout_.sections.version4; }

  /// act(block, first, count) for what of each block belongs to this rank.
  template <class Act>
  void for_own(const std::vector<GmshBlock>& blocks, std::int64_t total, const Act& act) const {
    const Blocks parts{total, ranks_};
    std::int64_t before = 0;
    for (const GmshBlock& block : blocks) {
      const std::int64_t first = std::max<std::int64_t>(parts.begin(rank_) - before, 0);
      const std::int64_t last = std::min(parts.begin(rank_ + 1) - before, block.count);
      if (first < last) act(block, first, last - first);
      before += block.count;
    }
  }

  /// act(cursor) on each of `count` records of equal size.
  template <class Act>
  void read_records(std::int64_t begin, std::int64_t bytes, std::int64_t count, const Act& act) {
    const std::int64_t at_once = std::max<std::int64_t>(1, file_.window() / bytes);
    for (std::int64_t k = 0; k < count; k += at_once) {
      const std::int64_t n = std::min(at_once, count - k);
      FileCursor cursor(file_.read(begin + k * bytes, begin + (k + n) * bytes), "");
      cursor.set_swapped(layout_.sections.format.swapped);
      for (std::int64_t i = 0; i < n; ++i) act(cursor);
    }
  }

  void add_position(FileCursor& cursor) {
    Eigen::Vector3d position;
    for (int k = 0; k < 3; ++k) position[k] = GmshFields(cursor, layout_.sections.format).coordinate();
    part_.positions.push_back(position);
  }

  void read_node_lines2(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    read_lines(file_, layout_.lines, block.begin + from, count, [&](FileCursor& cursor, std::int64_t) {
      part_.node_tags.push_back(cursor.integer("a node number"));
      add_position(cursor);
    });
  }

  void read_nodes2(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    read_records(block.begin + 28 * from, 28, count, [&](FileCursor& cursor) {
      part_.node_tags.push_back(cursor.binary<std::int32_t>("a node number"));
      add_position(cursor);
    });
  }

  void read_nodes4(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    const GmshFormat& format = layout_.sections.format;
    const auto tag = [&](FileCursor& cursor) {
      part_.node_tags.push_back(GmshFields(cursor, format).size("a node tag"));
    };
    const auto position = [&](FileCursor& cursor) {
      add_position(cursor);
      for (int k = 0; k < block.extra_coordinates; ++k) GmshFields(cursor, format).coordinate();
    };
    if (binary()) {
      const std::int64_t bytes = 24 + 8 * block.extra_coordinates;
      read_records(block.begin + format.size_bytes * from, format.size_bytes, count, tag);
      read_records(block.begin + format.size_bytes * block.count + bytes * from, bytes, count, position);
    } else {
      read_lines(file_, layout_.lines, block.begin + from, count,
                 [&](FileCursor& cursor, std::int64_t) { tag(cursor); });
      read_lines(file_, layout_.lines, block.begin + block.count + from, count,
                 [&](FileCursor& cursor, std::int64_t) { position(cursor); });
    }
  }

  void read_element_lines2(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    std::int64_t nodes[gmsh_max_nodes];
    read_lines(file_, layout_.lines, block.begin + from, count, [&](FileCursor& cursor, std::int64_t) {
      cursor.integer("an element number");
      const int type = cursor.small_integer("an element type");
      const int num_nodes = gmsh_node_count(cursor, type);
      const auto num_tags = cursor.integer("a count of tags");
      if (num_tags < 0) cursor.fail("a negative count");
      std::int32_t tags[2] = {0, 0};
      for (std::int64_t t = 0; t < num_tags; ++t) {
        const auto tag = cursor.small_integer("an element tag");
        if (t < 2) tags[t] = tag;
      }
      for (int k = 0; k < num_nodes; ++k) nodes[k] = cursor.integer("a node of an element");
      add(type, nodes, tags[0], tags[1]);
    });
  }

  void read_elements2(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    FileCursor nothing("", "");
    const int num_nodes = gmsh_node_count(nothing, block.type);
    const std::int64_t bytes = block.header + 4 * (1 + block.tags + num_nodes);
    std::int64_t nodes[gmsh_max_nodes];
    read_records(block.begin + bytes * from, bytes, count, [&](FileCursor& cursor) {
      const auto next = [&] { return cursor.binary<std::int32_t>("an element"); };
      if (block.header > 0)
        for (int k = 0; k < 3; ++k) next();
      next();
      std::int32_t tags[2] = {0, 0};
      for (std::int32_t t = 0; t < block.tags; ++t) {
        const auto tag = next();
        if (t < 2) tags[t] = tag;
      }
      for (int k = 0; k < num_nodes; ++k) nodes[k] = next();
      add(block.type, nodes, tags[0], tags[1]);
    });
  }

  void read_elements4(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    const GmshFormat& format = layout_.sections.format;
    const std::span<const std::int32_t> groups = groups_of(block);
    FileCursor nothing("", "");
    const int num_nodes = gmsh_node_count(nothing, block.type);
    const std::int64_t bytes = std::int64_t(format.size_bytes) * (1 + num_nodes);
    std::int64_t nodes[gmsh_max_nodes];
    const auto element = [&](FileCursor& cursor) {
      GmshFields fields(cursor, format);
      fields.size("an element tag");
      for (int k = 0; k < num_nodes; ++k) nodes[k] = fields.size("a node");
      add(block.type, nodes, part_.groups.choose_of_type(block.type, groups), 0);
    };
    if (binary())
      read_records(block.begin + bytes * from, bytes, count, element);
    else
      read_lines(file_, layout_.lines, block.begin + from, count,
                 [&](FileCursor& cursor, std::int64_t) { element(cursor); });
  }

  std::span<const std::int32_t> groups_of(const GmshBlock& block) const {
    const auto& tagged = layout_.sections.entities[block.dim];
    const auto found = tagged.find(block.entity);
    return found == tagged.end() ? std::span<const std::int32_t>() : found->second;
  }

  void add(int type, const std::int64_t* nodes, std::int32_t group, std::int32_t entity) {
    const int linear = gmsh_linear_type(type), dim = gmsh_dimension(type), corners = dim + 1;
    if (linear != 1 && linear != 2 && linear != 4 && linear != 15) {
      part_.refused[dim] = true;
      return;
    }
    ReadSimplices& simplices = part_.simplices[dim];
    simplices.corners.push_back({-1, -1, -1, -1});
    std::copy_n(nodes, corners, simplices.corners.back().begin());
    simplices.groups.push_back(group);
    simplices.entities.push_back(entity);
    if (linear == type) return;
    for (int e = 0; e < corners * dim / 2; ++e)
      part_.middles.push_back({nodes[corners + e], nodes[gmsh_edges[e][0]], nodes[gmsh_edges[e][1]]});
  }

  FileParts file_;
  const GmshLayout& layout_;
  int rank_, ranks_;
  ReadPart part_;
};

/// Which vertex has which tag: known to the rank that the tag is given by its bits, unless tags are numbers.
class NodeNumbers {
public:
  /// Takes the nodes that ranks have read and leaves each rank the positions of its block of vertices. False
  /// on every rank if tags are wrong. Collective.
  bool take(const parallel::Communicator& comm, std::vector<std::int64_t>& tags,
            std::vector<Eigen::Vector3d>& positions) {
    const auto [low, high] = tags.empty() ? std::pair(std::int64_t(0), std::int64_t(0)) : [&] {
      const auto [min, max] = std::ranges::minmax(tags);
      return std::pair(min, max);
    }();
    count_ = comm.sum(GlobalIndex(tags.size()));
    const std::int64_t lowest = comm.min(GlobalIndex(tags.empty() ? 1 : low));
    is_gapless_ = comm.max(GlobalIndex(high)) == count_ && count_ > 0 && lowest == 1;
    if (lowest < 0) return false;
    return is_gapless_ ? sort(comm, tags, positions) : list(comm, tags);
  }

  /// Puts numbers in the place of the tags that `for_each` calls its argument with. False on every rank if a
  /// tag is none. Collective.
  template <class ForEach>
  bool number(const parallel::Communicator& comm, const ForEach& for_each) const {
    if (is_gapless_) {
      bool fine = true;
      for_each([&](std::int64_t& tag) {
        fine = fine && tag >= 1 && tag <= count_;
        --tag;
      });
      return comm.all(fine);
    }
    std::vector<std::int64_t> asked;
    for_each([&](std::int64_t tag) { asked.push_back(tag); });
    std::sort(asked.begin(), asked.end());
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    const auto numbers = ask_owners(
        comm, asked, [&](std::int64_t tag) { return owner(tag, comm.size()); },
        [&](std::int64_t tag, int) {
          const auto found = std::ranges::lower_bound(known_, tag, {}, &Known::first);
          return found != known_.end() && found->first == tag ? found->second : std::int64_t(-1);
        });
    for_each([&](std::int64_t& tag) {
      tag = numbers[std::size_t(std::ranges::lower_bound(asked, tag) - asked.begin())];
    });
    return comm.all(std::ranges::find(numbers, -1) == numbers.end());
  }

private:
  using Known = std::pair<std::int64_t, std::int64_t>; ///< tag and number
  struct Node {
    std::array<double, 3> position;
    std::int64_t number;
  };

  /// Tags of any pattern, evenly on all ranks.
  static int owner(std::int64_t tag, int ranks) {
    const std::uint64_t mixed = std::uint64_t(tag) * 0x9e3779b97f4a7c15u;
    return int((mixed >> 33) % std::uint64_t(ranks));
  }

  /// Vertices in the order of tags.
  bool sort(const parallel::Communicator& comm, std::vector<std::int64_t>& tags,
            std::vector<Eigen::Vector3d>& positions) const {
    const Blocks blocks{count_, comm.size()};
    std::vector<std::vector<Node>> nodes(comm.size());
    for (std::size_t k = 0; k < tags.size(); ++k) {
      const Eigen::Vector3d& p = positions[k];
      nodes[blocks.of(tags[k] - 1)].push_back({{p.x(), p.y(), p.z()}, tags[k] - 1});
    }
    tags = {};
    positions = {};
    nodes = parallel::exchange(comm, nodes);
    const std::int64_t begin = blocks.begin(comm.rank());
    positions.resize(std::size_t(blocks.begin(comm.rank() + 1) - begin));
    std::vector<char> is_there(positions.size(), 0);
    bool fine = true;
    for (const auto& part : nodes)
      for (const Node& node : part) {
        positions[node.number - begin] = {node.position[0], node.position[1], node.position[2]};
        fine = fine && !std::exchange(is_there[node.number - begin], 1);
      }
    return comm.all(fine);
  }

  /// Vertices as they are read.
  bool list(const parallel::Communicator& comm, std::vector<std::int64_t>& tags) {
    const std::int64_t begin = Blocks{count_, comm.size()}.begin(comm.rank());
    std::vector<std::vector<std::array<std::int64_t, 2>>> outgoing(comm.size());
    for (std::size_t k = 0; k < tags.size(); ++k)
      outgoing[owner(tags[k], comm.size())].push_back({tags[k], begin + std::int64_t(k)});
    tags = {};
    for (const auto& part : parallel::exchange(comm, outgoing))
      for (const auto& [tag, number] : part) known_.emplace_back(tag, number);
    std::sort(known_.begin(), known_.end());
    const auto twice = std::ranges::adjacent_find(known_, {}, &Known::first);
    return comm.all(twice == known_.end());
  }

  std::int64_t count_ = 0;
  bool is_gapless_ = false;
  std::vector<Known> known_; ///< ascending
};

bool number_nodes(const parallel::Communicator& comm, const NodeNumbers& numbers, ReadPart& part) {
  return numbers.number(comm, [&](const auto& act) {
    for (int dim = 0; dim <= 3; ++dim)
      for (auto& corners : part.simplices[dim].corners)
        for (int i = 0; i <= dim; ++i) act(corners[i]);
    for (auto& middle : part.middles)
      for (std::int64_t& tag : middle) act(tag);
  });
}

/// An edge of second order whose middle node a rank has.
struct MiddleNode {
  std::int64_t node;
  std::array<std::int64_t, 2> ends;
  std::array<double, 3> middle;
  double length;
};

/// The middle nodes of edges, with the places of the ends. Marks vertices that are ends. Collective.
std::vector<MiddleNode> locate_middles(const parallel::Communicator& comm, const Blocks& blocks,
                                       const ReadPart& part, std::vector<char>& is_end) {
  std::vector<std::int64_t> ends;
  for (const auto& [node, a, b] : part.middles) ends.insert(ends.end(), {a, b});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const std::int64_t begin = blocks.begin(comm.rank());
  const auto places = ask_owners(
      comm, ends, [&](std::int64_t v) { return blocks.of(v); },
      [&](std::int64_t v, int) {
        is_end[v - begin] = 1;
        const Eigen::Vector3d& p = part.positions[v - begin];
        return std::array{p.x(), p.y(), p.z()};
      });
  const auto place = [&](std::int64_t v) {
    return Eigen::Vector3d(places[std::size_t(std::ranges::lower_bound(ends, v) - ends.begin())].data());
  };
  std::vector<std::vector<MiddleNode>> outgoing(comm.size());
  for (const auto& [node, a, b] : part.middles) {
    const Eigen::Vector3d p = place(a), q = place(b), middle = 0.5 * (p + q);
    outgoing[blocks.of(node)].push_back(
        {node, {std::min(a, b), std::max(a, b)}, {middle.x(), middle.y(), middle.z()}, (q - p).norm()});
  }
  std::vector<MiddleNode> all;
  for (const auto& given : parallel::exchange(comm, outgoing))
    all.insert(all.end(), given.begin(), given.end());
  return all;
}

/// As GmshMesh does element by element. False on every rank for a node in the middle of two edges, or of one
/// and at the end of another. Collective.
bool straighten_edges(const parallel::Communicator& comm, const Blocks& blocks, ReadPart& part,
                      const std::string& file) {
  if (!comm.any(!part.middles.empty())) return true;
  std::vector<char> is_end(part.positions.size(), 0);
  std::vector<MiddleNode> middles = locate_middles(comm, blocks, part, is_end);
  part.middles = {};
  std::ranges::sort(middles, {}, [](const MiddleNode& m) { return std::pair(m.node, m.ends); });
  const std::int64_t begin = blocks.begin(comm.rank());
  bool fine = true;
  GlobalIndex curved = 0;
  double curvature = 0;
  for (std::size_t k = 0; k < middles.size(); ++k) {
    const MiddleNode& m = middles[k];
    fine = fine && !is_end[m.node - begin];
    if (k > 0 && middles[k - 1].node == m.node) {
      fine = fine && middles[k - 1].ends == m.ends;
      continue;
    }
    const Eigen::Vector3d middle(m.middle.data());
    const double away = (part.positions[m.node - begin] - middle).norm() / m.length;
    if (away > gmsh_straight) ++curved;
    curvature = std::max(curvature, away);
    part.positions[m.node - begin] = middle;
  }
  if (!comm.all(fine)) return false;
  curved = comm.sum(curved);
  curvature = comm.max(curvature);
  if (curved > 0 && comm.rank() == 0) log_warning_once(gmsh_curved_warning(file, curved, curvature));
  return true;
}

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

/// GmshGroups::merge_repeats() on all ranks. Collective.
void merge_repeats_of_slices(const parallel::Communicator& comm, const Blocks& blocks, int dim,
                             ReadPart& part) {
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

struct NumberedCell {
  std::array<std::int32_t, 4> vertices;
  std::int32_t tag;
};

std::array<std::int32_t, 4> small(const std::array<std::int64_t, 4>& numbers) {
  return {std::int32_t(numbers[0]), std::int32_t(numbers[1]), std::int32_t(numbers[2]),
          std::int32_t(numbers[3])};
}

/// Gives each rank its block of the cells. Collective.
void share_cells(const parallel::Communicator& comm, ReadSimplices&& read, FileSlices& slices) {
  slices.num_cells = comm.sum(GlobalIndex(read.corners.size()));
  const Blocks blocks{slices.num_cells, comm.size()};
  const GlobalIndex first = comm.exclusive_scan(GlobalIndex(read.corners.size()));
  std::vector<std::vector<NumberedCell>> cells(comm.size());
  for (std::size_t i = 0; i < read.corners.size(); ++i)
    cells[blocks.of(first + std::int64_t(i))].push_back({small(read.corners[i]), read.groups[i]});
  read = {};
  cells = parallel::exchange(comm, cells);
  for (const auto& part : cells)
    for (const NumberedCell& cell : part) {
      slices.cells.push_back(cell.vertices);
      slices.tags.push_back(cell.tag);
    }
}

void take_facets(const parallel::Communicator& comm, const ReadSimplices& read, FileSlices& slices) {
  const GlobalIndex first = comm.exclusive_scan(GlobalIndex(read.corners.size()));
  for (std::size_t i = 0; i < read.corners.size(); ++i) {
    if (read.groups[i] <= 0) continue;
    const auto v = small(read.corners[i]);
    slices.facets.push_back({{v[0], v[1], v[2]}, read.groups[i], first + std::int64_t(i)});
  }
}

} // namespace

std::shared_ptr<const FileSlices> read_gmsh_slices(const parallel::Communicator& comm,
                                                   const std::filesystem::path& path) {
  const auto layout = find_gmsh_layout(comm, path);
  if (!layout) return {};
  ReadPart part;
  if (!all_succeed(comm, [&] { part = PartReader(path, *layout, comm.rank(), comm.size()).read(); }))
    return {};
  const auto has = [&](int dim) { return comm.any(!part.simplices[dim].corners.empty()); };
  auto slices = std::make_shared<FileSlices>();
  slices->dim = has(3) ? 3 : 2;
  if (slices->dim == 2 && !has(2)) return {};
  for (int dim = slices->dim; dim <= 3; ++dim)
    if (comm.any(part.refused[dim])) return {};
  NodeNumbers numbers;
  if (!numbers.take(comm, part.node_tags, part.positions)) return {};
  if (!number_nodes(comm, numbers, part)) return {};
  slices->num_vertices = layout->num_nodes;
  const Blocks blocks{slices->num_vertices, comm.size()};
  if (!straighten_edges(comm, blocks, part, path.string())) return {};
  slices->vertices = std::move(part.positions);
  take_facets(comm, part.simplices[slices->dim - 1], *slices);
  part.simplices[slices->dim - 1] = {};
  if (!layout->sections.version4) merge_repeats_of_slices(comm, blocks, slices->dim, part);
  share_cells(comm, std::move(part.simplices[slices->dim]), *slices);
  part.groups.add_up(comm);
  const std::string warning = part.groups.warning(slices->dim, path.string());
  if (!warning.empty() && comm.rank() == 0) log_warning_once(warning);
  return slices;
}

} // namespace recoil::mesh
