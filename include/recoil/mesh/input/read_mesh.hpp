#pragma once

#include <filesystem>

#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// Reads a mesh file; the extension decides the format: Gmsh `.msh` (2.2 and 4.1, ASCII and binary of either
/// byte order), Wavefront `.obj`, STL `.stl` (ASCII and binary), MEDIT `.mesh` (ASCII) and `.meshb` (binary,
/// versions 1 to 4).
///
/// Vertices are numbered as in the file: Gmsh node tag - 1, or order of appearance when the tags have gaps;
/// STL corners with identical coordinates are one vertex, numbered by first appearance. Gmsh and MEDIT files
/// give their elements of the highest dimension only, OBJ files faces, polylines (as edges) and the vertices
/// used by neither (as points). Tags are the first physical tag of the element's entity (Gmsh) or the
/// reference (MEDIT), 0 if none. Indices are checked; cells keep the orientation of the file.
/// @throws InputError with file:line (ASCII) or byte offset (binary) for whatever cannot be read: an absent
/// or damaged
///         file, elements that are no simplices or of higher order, versions not supported.
/// @note Not collective; holds the file and the mesh in memory.
RawMesh read_mesh(const std::filesystem::path& path);

} // namespace recoil::mesh
