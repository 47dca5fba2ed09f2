#pragma once

#include <string>

#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::mesh {

/// Makes one vertex of those at exactly the same position: the first keeps its number, the others stay
/// unused.
/// @return how many others there were
std::size_t merge_equal_vertices(RawMesh& raw);

/// Keeps the first of triangles with the same vertices, of edges with the same ends and of equal points,
/// whatever their orientation: contact would count each of them. Tags of triangles go with them.
/// @return how many were dropped
std::size_t drop_repeated_primitives(RawMesh& raw);

} // namespace recoil::mesh
