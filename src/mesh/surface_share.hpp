#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "recoil/mesh/distributed_surfaces.hpp"

namespace recoil::mesh {

/// A vertex of a surface on its way to a rank; plain, so that it travels as bytes.
struct SurfaceVertexRecord {
  std::array<double, 3> position; ///< [m]
  GlobalIndex id;
  std::int32_t owner, index_at_owner, surface;
};

/// What one rank is given of all surfaces: the triangles and free edges around the vertices that it owns, as
/// they are in their files and in the order of these, and all their vertices, ascending in id.
struct SurfaceParcel {
  std::vector<SurfaceVertexRecord> vertices;
  std::vector<std::array<GlobalIndex, 3>> triangles;
  std::vector<std::array<GlobalIndex, 2>> edges;
};

/// Fills everything of a rank's share but what all ranks know alike: numbers, areas, degrees and flat parts,
/// which follow from what is around each vertex. @param extent of all surfaces [m]. Collective.
template <int dim>
DistributedSurfaces<dim> make_share(const parallel::Communicator& comm, SurfaceParcel parcel, double extent);

} // namespace recoil::mesh
