#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// Refuses triangles and edges that use a vertex twice, and triangles without area.
/// @throws InputError naming `where`, the primitive, counted from 0, and its corners.
void check_primitives(const RawMesh& raw, const std::string& where);

/// Contact counts every triangle, edge and vertex that it is given: what is there twice would push twice, and
/// what triangles do not share as a whole would push along a flat surface. Merges vertices at one position,
/// leaves out repeated primitives, splits triangles at vertices that hang on their sides, and says so. Tags
/// of triangles become their numbers in the file. @throws InputError as check_primitives(), and for slivers.
void merge_repeats(RawMesh& raw, const std::string& where);

/// Merges repeated edges and points, of which the cut to 2D may have laid some on each other or made some
/// points.
void merge_repeated_edges(SurfaceMesh& surface, const std::string& where);

/// Warns of what pushes bodies along a flat part of a surface or counts there twice: edges of more than two
/// triangles, sides of triangles that lie on each other without common vertices, triangles that lie on each
/// other. What lies back to back in closed surfaces is hidden and fine.
/// @param numbers of its triangles in their file; those of copies follow each other
/// @throws InputError naming `where` if triangles with a common edge overlap and face the same way.
void check_surface(const SurfaceMesh& surface, std::span<const std::int32_t> numbers,
                   const std::string& where);

/// Warns of obstacles that lie on each other, or continue each other along a seam.
/// @param where of each
void check_between(std::span<const SurfaceMesh> surfaces, std::span<const std::string> where);

} // namespace recoil::mesh
