#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

/// Where meshes come from, files and built-in shapes, and how they become files.
namespace recoil::mesh {

/// A mesh file with what Gmsh says of boundary facets; of other formats nothing.
struct FileMesh : RawMesh {
  /// Boundary facets in physical groups: triangles of a mesh of tetrahedra, edges (the last entry is -1) of
  /// one of triangles; and the physical tag of each, of several the lowest one first.
  std::vector<std::array<std::int32_t, 3>> facets;
  std::vector<std::int32_t> facet_tags;
  std::map<std::pair<int, std::int32_t>, std::string> group_names; ///< by dimension and physical tag
};

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
FileMesh read_mesh(const std::filesystem::path& path);

/// 2 for rectangle and disk, else 3.
int dimension(GeneratorShape shape);

/// Meshes a built-in shape, centred at the origin, with positively oriented cells; all tags are 0.
/// `divisions` defaults to 1 per axis; one number stands for all axes of a box, plate or rectangle.
///
/// box, plate: nx ny nz cubes of six tetrahedra each (Kuhn), vertices numbered x fastest; rectangle: nx ny
/// squares of two triangles. disk: n rings, ring k with 6 k vertices, 6 n^2 triangles. cylinder: the disk
/// with `divisions[0]` rings, extruded along z in `divisions[1]` layers, three tetrahedra per prism. ball: (2
/// n)^3 cubes of six tetrahedra mapped shell by shell onto spheres, 48 n^3 tetrahedra.
/// @throws InputError naming `where` for sizes or divisions that are missing, not positive, or too large for
/// 32-bit
///         indices.
RawMesh generate(const Generator& generator, const std::string& where);

/// The text of a Gmsh 2.2 file with these cells, from which the same mesh is read: coordinates to the last
/// digit, vertices and cells in this order, and the tag of each cell as its physical one.
/// @param cells tetrahedra, or triangles whose last entry is -1. @param tags one per cell.
std::string gmsh_text(std::span<const Eigen::Vector3d> vertices,
                      std::span<const std::array<std::int32_t, 4>> cells, std::span<const std::int32_t> tags);

} // namespace recoil::mesh
