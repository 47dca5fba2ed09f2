#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace recoil::mesh {

/// The names of the physical groups of a Gmsh file, by dimension and tag, and the dimension of its cells.
struct GroupNames {
  int dim = 2; ///< 3 if there are tetrahedra
  std::map<std::pair<int, std::int32_t>, std::string> names;
};

/// Reads them without holding the mesh. Not collective.
/// @throws InputError as read_mesh() for files that have no sound sections.
GroupNames read_group_names(const std::filesystem::path& path);

} // namespace recoil::mesh
