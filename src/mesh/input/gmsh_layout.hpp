#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "mesh/input/file_parts.hpp"
#include "mesh/input/gmsh.hpp"

namespace recoil::mesh {

/// Nodes or elements that lie in equal records (binary) or one a line (text).
struct GmshBlock {
  std::int32_t dim = 0, entity = 0;   ///< of 4.1 files
  std::int32_t type = 0;              ///< of elements; 0 where lines say it themselves
  std::int32_t tags = 0;              ///< of an element in binary 2.2 files
  std::int32_t header = 0;            ///< bytes before each element of binary 2.2 files
  std::int32_t extra_coordinates = 0; ///< parametric ones of a node in 4.1 files
  std::int64_t count = 0, begin = 0;  ///< the first byte, or line, of the block
};

/// Where things lie in a Gmsh file.
struct GmshLayout {
  GmshSections sections;
  std::vector<GmshBlock> nodes, elements;
  std::int64_t num_nodes = 0, num_elements = 0;
  LineIndex lines; ///< of text files
};

/// Finds it without holding the file: the first rank goes from block to block, of text files all scan their
/// part for the begins of lines. None on every rank if something is wrong with the file, is in an unusual
/// place or is not supported, and read_gmsh() knows why. Collective.
std::optional<GmshLayout> find_gmsh_layout(const parallel::Communicator& comm,
                                           const std::filesystem::path& path);

} // namespace recoil::mesh
