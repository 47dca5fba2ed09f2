#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::mesh {

/// Values at one vertex of a mesh, such as its displacement.
struct NodeValue {
  GlobalIndex vertex = 0;
  std::array<double, 3> value{}; ///< NaN where there is none
};

/// Reads rows "vertex v_0 .. v_(dim - 1)", one per vertex, from a text file; `nan` leaves a component out and
/// '#' begins a comment. Not collective.
/// @param num_vertices vertices are numbered from 0 to num_vertices - 1.
/// @throws InputError naming `where`, file and line.
std::vector<NodeValue> read_node_values(const std::filesystem::path& path, int dim, GlobalIndex num_vertices,
                                        const std::string& where);

} // namespace recoil::mesh
