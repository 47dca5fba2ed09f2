#include "mesh/input/gmsh_part.hpp"

#include <algorithm>
#include <utility>

#include "mesh/input/gmsh_records.hpp"
#include "mesh/meet_keys.hpp"

namespace recoil::mesh {

namespace {

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

  void add(const GmshNode& node) {
    part_.node_tags.push_back(node.tag);
    part_.positions.push_back(node.position);
  }

  void read_node_lines2(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    read_lines(file_, layout_.lines, block.begin + from, count, [&](FileCursor& cursor, std::int64_t) {
      add(read_gmsh2_node(cursor, layout_.sections.format));
    });
  }

  void read_nodes2(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    read_records(block.begin + 28 * from, 28, count,
                 [&](FileCursor& cursor) { add(read_gmsh2_node(cursor, layout_.sections.format)); });
  }

  void read_nodes4(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    const GmshFormat& format = layout_.sections.format;
    const auto tag = [&](FileCursor& cursor) {
      part_.node_tags.push_back(GmshFields(cursor, format).size("a node tag"));
    };
    const auto position = [&](FileCursor& cursor) {
      GmshFields fields(cursor, format);
      part_.positions.push_back(read_gmsh4_position(fields, block.extra_coordinates));
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
    GmshElement element;
    read_lines(file_, layout_.lines, block.begin + from, count, [&](FileCursor& cursor, std::int64_t) {
      read_gmsh2_line(cursor, element);
      add(element);
    });
  }

  void read_elements2(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    GmshElement element = of_type(block);
    const std::int64_t bytes = block.header + 4 * (1 + block.tags + element.num_nodes);
    read_records(block.begin + bytes * from, bytes, count, [&](FileCursor& cursor) {
      cursor.seek(cursor.position() + std::size_t(block.header));
      read_gmsh2_record(cursor, block.tags, element);
      add(element);
    });
  }

  void read_elements4(const GmshBlock& block, std::int64_t from, std::int64_t count) {
    const GmshFormat& format = layout_.sections.format;
    const std::span<const std::int32_t> groups = groups_of(block);
    GmshElement element = of_type(block);
    const std::int64_t bytes = std::int64_t(format.size_bytes) * (1 + element.num_nodes);
    const auto act = [&](FileCursor& cursor) {
      GmshFields fields(cursor, format);
      read_gmsh4_element(fields, element);
      element.group = part_.groups.choose_of_type(block.type, groups);
      add(element);
    };
    if (binary())
      read_records(block.begin + bytes * from, bytes, count, act);
    else
      read_lines(file_, layout_.lines, block.begin + from, count,
                 [&](FileCursor& cursor, std::int64_t) { act(cursor); });
  }

  static GmshElement of_type(const GmshBlock& block) {
    FileCursor nothing("", "");
    GmshElement element;
    element.set_type(nothing, block.type);
    return element;
  }

  std::span<const std::int32_t> groups_of(const GmshBlock& block) const {
    const auto& tagged = layout_.sections.entities[block.dim];
    const auto found = tagged.find(block.entity);
    return found == tagged.end() ? std::span<const std::int32_t>() : found->second;
  }

  void add(const GmshElement& element) {
    const int linear = gmsh_linear_type(element.type), dim = gmsh_dimension(element.type), corners = dim + 1;
    const auto& nodes = element.nodes;
    if (linear != 1 && linear != 2 && linear != 4 && linear != 15) {
      part_.refused[dim] = true;
      return;
    }
    ReadSimplices& simplices = part_.simplices[dim];
    simplices.corners.push_back({-1, -1, -1, -1});
    std::copy_n(nodes.begin(), corners, simplices.corners.back().begin());
    simplices.groups.push_back(element.group);
    simplices.entities.push_back(element.entity);
    if (linear == element.type) return;
    for (int e = 0; e < corners * dim / 2; ++e)
      part_.middles.push_back({nodes[corners + e], nodes[gmsh_edges[e][0]], nodes[gmsh_edges[e][1]]});
  }

  FileParts file_;
  const GmshLayout& layout_;
  int rank_, ranks_;
  ReadPart part_;
};

} // namespace

ReadPart read_gmsh_part(const std::filesystem::path& path, const GmshLayout& layout, int rank, int ranks) {
  return PartReader(path, layout, rank, ranks).read();
}

} // namespace recoil::mesh
