#include "mesh/input/gmsh.hpp"
#include "mesh/input/gmsh_records.hpp"

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
  GmshElement element;
  while (done < count) {
    const auto type = cursor.binary<std::int32_t>("an element block");
    const auto block = cursor.binary<std::int32_t>("an element block");
    const auto num_tags = cursor.binary<std::int32_t>("an element block");
    element.set_type(cursor, type);
    if (block <= 0 || block > std::ptrdiff_t(count - done))
      cursor.fail("a block of " + std::to_string(block) + " elements in a section of " +
                  std::to_string(count));
    if (num_tags < 0 || num_tags > 1000) cursor.fail(std::to_string(num_tags) + " tags per element");
    for (std::int32_t i = 0; i < block; ++i) {
      read_gmsh2_record(cursor, num_tags, element);
      mesh.add_element(cursor, type, element.nodes.data(), element.group, element.entity);
    }
    done += block;
  }
}

void check_total(FileCursor& cursor, std::size_t found, std::size_t announced, const char* what) {
  if (found != announced)
    cursor.fail("the blocks hold " + std::to_string(found) + " " + what + ", the section announces " +
                std::to_string(announced));
}

} // namespace

void read_gmsh2_nodes(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh) {
  const auto count = section_count(cursor, format, "nodes", format.binary ? 28 : 8);
  std::vector<std::int64_t> tags(count);
  std::vector<Eigen::Vector3d> positions(count);
  for (std::size_t i = 0; i < count; ++i) {
    const GmshNode node = read_gmsh2_node(cursor, format);
    tags[i] = node.tag;
    positions[i] = node.position;
  }
  mesh.set_nodes(cursor, tags, std::move(positions));
}

void read_gmsh2_elements(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh) {
  mesh.begin_elements(cursor);
  const auto count = section_count(cursor, format, "elements", 8);
  if (format.binary) return read_binary_elements(cursor, count, mesh);
  GmshElement element;
  for (std::size_t i = 0; i < count; ++i) {
    read_gmsh2_line(cursor, element);
    mesh.add_element(cursor, element.type, element.nodes.data(), element.group, element.entity);
  }
}

GmshEntities read_gmsh4_entities(FileCursor& cursor, const GmshFormat& format) {
  GmshFields fields(cursor, format);
  GmshEntities entities;
  std::size_t counts[4];
  for (auto& count : counts) count = fields.count("entities", 4, 2);
  for (int dim = 0; dim <= 3; ++dim)
    for (std::size_t i = 0; i < counts[dim]; ++i) {
      const auto tag = fields.small("an entity tag");
      // points have a position, the others a bounding box, which Gmsh writes as infinite when it is empty
      for (int k = 0; k < (dim == 0 ? 3 : 6); ++k)
        format.binary ? void(cursor.binary<double>("an entity box")) : void(cursor.word());
      const auto num_physical = fields.count("physical tags of an entity", 4, 2);
      for (std::size_t p = 0; p < num_physical; ++p) {
        const auto physical = fields.small("a physical tag");
        entities[dim][tag].push_back(physical);
      }
      if (dim == 0) continue;
      const auto num_bounding = fields.count("bounding entities", 4, 2);
      for (std::size_t b = 0; b < num_bounding; ++b) fields.small("a bounding entity");
    }
  return entities;
}

void read_gmsh4_nodes(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh) {
  GmshFields fields(cursor, format);
  const auto num_blocks = fields.count("node blocks", 12 + fields.size_bytes(), 8);
  const auto num_nodes = fields.count("nodes", 24 + fields.size_bytes(), 8);
  fields.size("the smallest node tag");
  fields.size("the largest node tag");
  std::vector<std::int64_t> tags;
  std::vector<Eigen::Vector3d> positions;
  tags.reserve(num_nodes);
  positions.reserve(num_nodes);
  for (std::size_t block = 0; block < num_blocks; ++block) {
    const int dim = fields.dimension();
    fields.small("an entity tag");
    const auto parametric = fields.small("the parametric flag");
    if (parametric != 0 && parametric != 1)
      cursor.fail("the parametric flag is " + std::to_string(parametric) + ", not 0 or 1");
    const auto count = fields.count("nodes", 24 + fields.size_bytes(), 8);
    if (count > num_nodes - tags.size()) check_total(cursor, tags.size() + count, num_nodes, "nodes");
    for (std::size_t i = 0; i < count; ++i) tags.push_back(fields.size("a node tag"));
    for (std::size_t i = 0; i < count; ++i)
      positions.push_back(read_gmsh4_position(fields, parametric ? dim : 0));
  }
  check_total(cursor, tags.size(), num_nodes, "nodes");
  mesh.set_nodes(cursor, tags, std::move(positions));
}

void read_gmsh4_elements(FileCursor& cursor, const GmshFormat& format, const GmshEntities& entities,
                         GmshMesh& mesh) {
  mesh.begin_elements(cursor);
  GmshFields fields(cursor, format);
  const auto num_blocks = fields.count("element blocks", 12 + fields.size_bytes(), 8);
  const auto num_elements = fields.count("elements", 2 * fields.size_bytes(), 4);
  fields.size("the smallest element tag");
  fields.size("the largest element tag");
  std::size_t found = 0;
  GmshElement element;
  for (std::size_t block = 0; block < num_blocks; ++block) {
    const int dim = fields.dimension();
    const auto entity = fields.small("an entity tag");
    element.set_type(cursor, fields.small("an element type"));
    const auto count = fields.count("elements", 2 * fields.size_bytes(), 4);
    found += count;
    if (found > num_elements) check_total(cursor, found, num_elements, "elements");
    const auto tagged = entities[dim].find(entity);
    const std::span<const std::int32_t> groups =
        tagged == entities[dim].end() ? std::span<const std::int32_t>() : tagged->second;
    for (std::size_t i = 0; i < count; ++i) {
      read_gmsh4_element(fields, element);
      mesh.add_element(cursor, element.type, element.nodes.data(), groups);
    }
  }
  check_total(cursor, found, num_elements, "elements");
}

} // namespace recoil::mesh
