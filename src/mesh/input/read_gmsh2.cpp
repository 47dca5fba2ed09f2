#include <limits>

#include "mesh/input/gmsh.hpp"

namespace recoil::mesh {

namespace {

/// A count in text; in binary files the data begin behind its line.
std::size_t section_count(FileCursor& cursor, const GmshFormat& format, const char* what,
                          std::size_t min_bytes) {
  const auto count = cursor.count(what, min_bytes);
  if (format.binary) {
    if (!cursor.skip_blanks())
      cursor.fail(std::string("expected the end of the line after the count of ") + what);
    cursor.skip_line();
  }
  return count;
}

void read_binary_elements(FileCursor& cursor, std::size_t count, GmshMesh& mesh) {
  std::size_t done = 0;
  std::int64_t nodes[gmsh_max_nodes];
  while (done < count) {
    const auto type = cursor.binary<std::int32_t>("an element block");
    const auto block = cursor.binary<std::int32_t>("an element block");
    const auto num_tags = cursor.binary<std::int32_t>("an element block");
    const int num_nodes = gmsh_node_count(cursor, type);
    if (block <= 0 || static_cast<std::size_t>(block) > count - done)
      cursor.fail("a block of " + std::to_string(block) + " elements in a section of " +
                  std::to_string(count));
    if (num_tags < 0 || num_tags > 1000) cursor.fail(std::to_string(num_tags) + " tags per element");
    for (std::int32_t i = 0; i < block; ++i) {
      cursor.binary<std::int32_t>("an element number");
      std::int32_t physical = 0;
      for (std::int32_t t = 0; t < num_tags; ++t) {
        const auto tag = cursor.binary<std::int32_t>("an element tag");
        if (t == 0) physical = tag;
      }
      for (int k = 0; k < num_nodes; ++k) nodes[k] = cursor.binary<std::int32_t>("a node of an element");
      mesh.add_element(cursor, type, nodes, physical);
    }
    done += block;
  }
}

} // namespace

void read_gmsh2_nodes(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh) {
  const auto count = section_count(cursor, format, "nodes", format.binary ? 28 : 8);
  std::vector<std::int64_t> tags(count);
  std::vector<Eigen::Vector3d> positions(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (format.binary) {
      tags[i] = cursor.binary<std::int32_t>("a node number");
      for (int k = 0; k < 3; ++k) positions[i][k] = cursor.binary_coordinate();
    } else {
      tags[i] = cursor.integer("a node number");
      for (int k = 0; k < 3; ++k) positions[i][k] = cursor.number("a coordinate");
    }
  }
  mesh.set_nodes(cursor, tags, std::move(positions));
}

void read_gmsh2_elements(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh) {
  mesh.begin_elements(cursor);
  const auto count = section_count(cursor, format, "elements", 8);
  if (format.binary) return read_binary_elements(cursor, count, mesh);
  std::int64_t nodes[gmsh_max_nodes];
  for (std::size_t i = 0; i < count; ++i) {
    cursor.integer("an element number");
    const auto type = cursor.small_integer("an element type");
    const int num_nodes = gmsh_node_count(cursor, type);
    const auto num_tags = cursor.integer("a count of tags");
    if (num_tags < 0) cursor.fail(std::to_string(num_tags) + " tags of an element");
    std::int32_t physical = 0;
    for (std::int64_t t = 0; t < num_tags; ++t) {
      const auto tag = cursor.small_integer("an element tag");
      if (t == 0) physical = tag;
    }
    for (int k = 0; k < num_nodes; ++k) nodes[k] = cursor.integer("a node of an element");
    mesh.add_element(cursor, type, nodes, physical);
  }
}

} // namespace recoil::mesh
