#pragma once

#include <array>
#include <cstdint>

#include <Eigen/Core>

#include "mesh/input/gmsh_fields.hpp"

/// Nodes and elements of Gmsh files one by one: a record each in binary files, a line each in text.
namespace recoil::mesh {

struct GmshNode {
  std::int64_t tag;
  Eigen::Vector3d position;
};

/// A node of a 2.2 file.
GmshNode read_gmsh2_node(FileCursor& cursor, const GmshFormat& format);

/// The position of a node of a 4.1 file, behind which there are `extra` parametric coordinates.
Eigen::Vector3d read_gmsh4_position(GmshFields& fields, int extra);

struct GmshElement {
  std::int32_t type = 0;
  int num_nodes = 0;
  std::array<std::int64_t, gmsh_max_nodes> nodes;
  std::int32_t group = 0, entity = 0; ///< of 2.2 files; 0 where there is none

  /// Makes this an element of a type, which lines of 2.2 text say themselves. Fails for types unknown.
  void set_type(FileCursor& cursor, std::int32_t new_type);
};

/// The next element of 2.2 text, whatever its type is.
void read_gmsh2_line(FileCursor& cursor, GmshElement& element);
/// The next element of binary 2.2 data of the type that `element` has, with this many tags.
void read_gmsh2_record(FileCursor& cursor, std::int32_t num_tags, GmshElement& element);
/// The next element of a block of a 4.1 file, of the type that `element` has.
void read_gmsh4_element(GmshFields& fields, GmshElement& element);

} // namespace recoil::mesh
