#pragma once

#include <span>
#include <vector>

#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/sliced_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// Cells of all deformable entries after refinement and copies, counted without making them. Files are read,
/// and stay in `files`: in slices where they are large, by the first rank if not. Collective.
/// @throws InputError on every rank, as assemble_geometry() does for generators and files.
double count_deformable_cells(const parallel::Communicator& comm, std::span<const GeometrySpec> specs,
                              MeshFiles& files);

/// The deformable mesh that assemble_geometry() makes of `specs`, same numbers, coordinates and ids, in
/// slices: generators make the share of each rank there, large Gmsh files are read by all ranks, what the
/// first rank reads from another file (or refines, as long as a body has fewer cells than can be shared
/// evenly) it hands out, and slices are refined, selected from and copied where they are. Large files with
/// anything wrong in them are read again by the first rank, which says what it is. Collective.
/// @param specs deformable ones only.
/// @param empty on the first rank, as AssembledGeometry::empty_selections; unchanged elsewhere
/// @throws InputError on every rank, as assemble_geometry().
SlicedMesh assemble_slices(const parallel::Communicator& comm, std::span<const GeometrySpec> specs, int dim,
                           MeshFiles& files, std::vector<EmptySelection>& empty);

} // namespace recoil::mesh
