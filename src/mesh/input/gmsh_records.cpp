#include "mesh/input/gmsh_records.hpp"

#include <string>

namespace recoil::mesh {

namespace {

/// Physical group and entity; the other tags are partitions.
template <class Next>
void read_tags(std::int64_t count, GmshElement& element, const Next& next) {
  element.group = element.entity = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int32_t tag = next();
    if (t < 2) (t == 0 ? element.group : element.entity) = tag;
  }
}

} // namespace

GmshNode read_gmsh2_node(FileCursor& cursor, const GmshFormat& format) {
  GmshNode node{};
  node.tag = format.binary ? cursor.binary<std::int32_t>("a node number") : cursor.integer("a node number");
  GmshFields fields(cursor, format);
  node.position = read_gmsh4_position(fields, 0);
  return node;
}

Eigen::Vector3d read_gmsh4_position(GmshFields& fields, int extra) {
  Eigen::Vector3d position;
  for (int k = 0; k < 3; ++k) position[k] = fields.coordinate();
  for (int k = 0; k < extra; ++k) fields.coordinate();
  return position;
}

void GmshElement::set_type(FileCursor& cursor, std::int32_t new_type) {
  num_nodes = gmsh_node_count(cursor, new_type);
  type = new_type;
}

void read_gmsh2_line(FileCursor& cursor, GmshElement& element) {
  cursor.integer("an element number");
  element.set_type(cursor, cursor.small_integer("an element type"));
  const auto num_tags = cursor.integer("a count of tags");
  if (num_tags < 0) cursor.fail(std::to_string(num_tags) + " tags of an element");
  read_tags(num_tags, element, [&] { return cursor.small_integer("an element tag"); });
  for (int k = 0; k < element.num_nodes; ++k) element.nodes[k] = cursor.integer("a node of an element");
}

void read_gmsh2_record(FileCursor& cursor, std::int32_t num_tags, GmshElement& element) {
  cursor.binary<std::int32_t>("an element number");
  read_tags(num_tags, element, [&] { return cursor.binary<std::int32_t>("an element tag"); });
  for (int k = 0; k < element.num_nodes; ++k)
    element.nodes[k] = cursor.binary<std::int32_t>("a node of an element");
}

void read_gmsh4_element(GmshFields& fields, GmshElement& element) {
  fields.size("an element tag");
  for (int k = 0; k < element.num_nodes; ++k) element.nodes[k] = fields.size("a node of an element");
}

} // namespace recoil::mesh
