#pragma once

#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// The kinematic surface of an obstacle entry from what its file or generator holds. Coordinates are cut to
/// `dim`, then normalised and transformed; tetrahedra are reduced to their surface; in 2D triangles to their
/// boundary edges. `Extract::edges` turns triangles into their edges, `points` keeps all vertices of the
/// surface and nothing else. `n_refs` splits edges at their middle; copies of a `mesh_array` follow each
/// other. Vertices keep the order of the file; those that no primitive uses are dropped.
/// @throws InputError naming the entry for an empty surface, `n_refs` with triangles, or array sizes below 1.
SurfaceMesh obstacle_surface(RawMesh raw, const GeometrySpec& spec, int dim);

} // namespace recoil::mesh
