#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Geometry>

#include "mesh/input/gmsh_slices.hpp"
#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/input/body_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// One deformable entry in slices, up to its own coordinates.
struct SlicedBody {
  BodyMesh mesh;
  Eigen::AlignedBox3d box; ///< of all vertices of the entry, before refinement
  /// Vertices that no cell has: how many have smaller numbers than each vertex of the slice that was there
  /// before refinement, and all of them.
  std::vector<std::int32_t> lone_before;
  std::int64_t num_lone = 0;
};

/// Brings vertices in parts to the coordinates of an entry and returns the box around all. Collective.
/// @throws InputError on every rank, as normalize() and affine_map().
Eigen::AlignedBox3d place_vertices(const parallel::Communicator& comm, const GeometrySpec& spec, int dim,
                                   std::vector<Eigen::Vector3d>& vertices);

/// An entry, not yet refined, of a file of which every rank holds a part; checked as a whole mesh is. None on
/// every rank where a check fails whose message needs the whole mesh. Collective.
/// @throws InputError on every rank, as assemble_geometry().
std::optional<SlicedBody> body_of_file(const parallel::Communicator& comm, const GeometrySpec& spec,
                                       const FileSlices& file, int dim);

} // namespace recoil::mesh
