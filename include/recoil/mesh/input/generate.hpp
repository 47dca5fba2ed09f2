#pragma once

#include <string>

#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

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

} // namespace recoil::mesh
