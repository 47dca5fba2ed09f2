#include "mesh/input/gmsh_layout.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "mesh/input/gmsh_fields.hpp"

namespace recoil::mesh {

namespace {

/// What stands behind the last section of elements may be so long.
constexpr std::int64_t longest_tail = std::int64_t(1) << 26;

[[noreturn]] void give_up() { throw InputError("a Gmsh file with unusual sections"); }

/// Goes through a file from block to block.
class LayoutWalk {
public:
  LayoutWalk(FileParts& file, GmshLayout& layout) : file_(file), layout_(layout) {}

  void walk() {
    next_section("$Nodes");
    version4() ? walk_blocks(true) : binary() ? walk_nodes2() : walk_lines2(layout_.nodes);
    for (const GmshBlock& block : layout_.nodes) layout_.num_nodes += block.count;
    end_section("$Nodes");
    next_section("$Elements");
    version4() ? walk_blocks(false) : binary() ? walk_elements2() : walk_lines2(layout_.elements);
    for (const GmshBlock& block : layout_.elements) layout_.num_elements += block.count;
    end_section("$Elements");
    read_tail();
  }

private:
  bool binary() const { return layout_.sections.format.binary; }
  bool version4() const { return layout_.sections.version4; }

  FileCursor cursor(std::string_view text) const {
    FileCursor cursor(text, "");
    cursor.set_swapped(layout_.sections.format.swapped);
    return cursor;
  }

  /// Runs act(cursor) on what follows, more and more of it until it is enough, and goes behind what was read.
  template <class Act>
  void read_ahead(std::int64_t bytes, const Act& act) {
    for (;; bytes *= 4) {
      const std::int64_t end = std::min(file_.size(), at_ + bytes);
      const std::string_view text = file_.read(at_, end);
      try {
        FileCursor here = cursor(text);
        act(here);
        // A word that the end of the part may have cut needs more of it.
        if (here.remaining() == 0 && end < file_.size()) throw InputError("cut");
        line_ += std::count(text.begin(), text.begin() + std::ptrdiff_t(here.position()), '\n');
        at_ += std::int64_t(here.position());
        return;
      } catch (const InputError&) {
        // An error stays one, however much is read.
        if (end == file_.size() || bytes >= longest_tail) throw;
      }
    }
  }

  void next_section(std::string_view wanted) {
    const GmshSections before = layout_.sections;
    read_ahead(1 << 12, [&](FileCursor& here) {
      layout_.sections = before;
      if (layout_.sections.next(here) != wanted) give_up();
    });
  }

  void end_section(std::string_view section) {
    if (!binary()) at_ = layout_.lines.byte_of(file_, line_);
    read_ahead(64, [&](FileCursor& here) {
      GmshSections::end(here, section);
      if (!here.skip_blanks()) give_up();
      here.skip_line();
    });
  }

  void read_tail() {
    if (file_.size() - at_ > longest_tail) give_up();
    FileCursor here = cursor(file_.read(at_, file_.size()));
    if (!layout_.sections.next(here).empty()) give_up();
  }

  std::int64_t check(std::int64_t count) const {
    if (count < 0 || count > std::numeric_limits<std::int32_t>::max() || count > file_.size()) give_up();
    return count;
  }

  /// A count on a line of its own.
  std::int64_t read_count() {
    std::int64_t count = 0;
    read_ahead(64, [&](FileCursor& here) {
      count = here.integer("a count");
      if (!here.skip_blanks()) give_up();
      here.skip_line();
    });
    return check(count);
  }

  void walk_lines2(std::vector<GmshBlock>& blocks) {
    GmshBlock block;
    block.count = read_count();
    block.begin = line_;
    line_ += block.count;
    blocks.push_back(block);
  }

  void walk_nodes2() {
    GmshBlock block;
    block.count = read_count();
    block.begin = at_;
    at_ += 28 * block.count;
    layout_.nodes.push_back(block);
  }

  void walk_elements2() {
    std::vector<GmshBlock>& blocks = layout_.elements;
    for (std::int64_t left = read_count(); left > 0;) {
      FileCursor here = cursor(file_.read(at_, at_ + 12));
      GmshBlock block;
      block.type = here.binary<std::int32_t>("a type");
      block.count = check(here.binary<std::int32_t>("a count"));
      block.tags = here.binary<std::int32_t>("a count of tags");
      if (block.count == 0 || block.count > left || block.tags < 0 || block.tags > 1000) give_up();
      block.begin = at_ + 12;
      const std::int64_t bytes = 4 * (1 + block.tags + gmsh_node_count(here, block.type));
      at_ += 12 + bytes * block.count;
      left -= block.count;
      // Gmsh writes elements one by one, each with a header.
      if (block.count == 1) {
        block.header = 12;
        block.begin -= 12;
        GmshBlock* last = blocks.empty() ? nullptr : &blocks.back();
        if (last && last->header == 12 && last->type == block.type && last->tags == block.tags) {
          ++last->count;
          continue;
        }
      }
      blocks.push_back(block);
    }
  }

  /// The header of a section or block of a 4.1 file.
  template <class Read>
  void read_header(const Read& read) {
    read_ahead(96, [&](FileCursor& here) {
      GmshFields fields(here, layout_.sections.format);
      read(fields);
      if (binary()) return;
      if (!here.skip_blanks()) give_up();
      here.skip_line();
    });
  }

  void walk_blocks(bool of_nodes) {
    const std::int64_t size_bytes = layout_.sections.format.size_bytes;
    std::int64_t num_blocks = 0, announced = 0, found = 0;
    read_header([&](GmshFields& fields) {
      num_blocks = fields.size("blocks");
      announced = fields.size("a count");
      fields.size("a tag");
      fields.size("a tag");
    });
    check(announced);
    for (std::int64_t b = 0; b < num_blocks; ++b) {
      GmshBlock block;
      if (b > 0 && !binary()) at_ = layout_.lines.byte_of(file_, line_);
      read_header([&](GmshFields& fields) {
        block.dim = fields.dimension();
        block.entity = fields.small("an entity");
        block.type = fields.small("a type");
        block.count = fields.size("a count");
      });
      check(block.count);
      block.begin = binary() ? at_ : line_;
      found += block.count;
      if (of_nodes) {
        if (block.type != 0 && block.type != 1) give_up();
        block.extra_coordinates = block.type == 1 ? block.dim : 0;
        at_ += block.count * (size_bytes + 24 + 8 * block.extra_coordinates);
        line_ += 2 * block.count;
        layout_.nodes.push_back(block);
      } else {
        FileCursor nothing("", "");
        at_ += block.count * size_bytes * (1 + gmsh_node_count(nothing, block.type));
        line_ += block.count;
        layout_.elements.push_back(block);
      }
      if (binary() && at_ > file_.size()) give_up();
    }
    if (found != announced) give_up();
  }

  FileParts& file_;
  GmshLayout& layout_;
  std::int64_t at_ = 0, line_ = 0; ///< where the walk is; in text blocks move the line only
};

/// The sections that all ranks need, as numbers and text.
void broadcast_sections(const parallel::Communicator& comm, GmshSections& sections) {
  std::vector<std::int32_t> numbers{sections.format.binary, sections.format.swapped,
                                    sections.format.size_bytes, sections.version4};
  comm.broadcast(numbers);
  sections.format = {numbers[0] != 0, numbers[1] != 0, numbers[2]};
  sections.version4 = numbers[3] != 0;
  comm.broadcast(sections.names);
  std::vector<std::array<std::int64_t, 3>> tagged;
  for (std::size_t dim = 0; dim < 4; ++dim)
    for (const auto& [entity, groups] : sections.entities[dim])
      for (const std::int32_t group : groups) tagged.push_back({std::int64_t(dim), entity, group});
  comm.broadcast(tagged);
  sections.entities = {};
  for (const auto& [dim, entity, group] : tagged)
    sections.entities[std::size_t(dim)][entity].push_back(std::int32_t(group));
}

bool is_binary(const std::filesystem::path& path) {
  FileParts file(path, 1 << 12);
  FileCursor cursor(file.read(0, std::min<std::int64_t>(file.size(), 1 << 12)), "");
  cursor.expect("$MeshFormat");
  cursor.word();
  return cursor.integer("the file type") != 0;
}

} // namespace

std::optional<GmshLayout> find_gmsh_layout(const parallel::Communicator& comm,
                                           const std::filesystem::path& path) {
  GmshLayout layout;
  std::vector<std::int64_t> shared{0, 0, 0};
  if (!all_succeed(comm, [&] {
        if (comm.rank() == 0) shared[0] = is_binary(path) ? 1 : 0;
      }))
    return {};
  comm.broadcast(shared);
  if (shared[0] == 0) {
    auto lines = LineIndex::make(comm, path);
    if (!lines) return {};
    layout.lines = std::move(*lines);
  }
  if (!all_succeed(comm, [&] {
        if (comm.rank() != 0) return;
        FileParts file(path, std::int64_t(1) << 16);
        LayoutWalk(file, layout).walk();
      }))
    return {};
  broadcast_sections(comm, layout.sections);
  comm.broadcast(layout.nodes);
  comm.broadcast(layout.elements);
  shared = {0, layout.num_nodes, layout.num_elements};
  comm.broadcast(shared);
  layout.num_nodes = shared[1];
  layout.num_elements = shared[2];
  return layout;
}

} // namespace recoil::mesh
