#pragma once

#include <span>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// One rank's cells and vertices after distribution with one layer of ghost cells, in input ids.
struct PlexPart {
  std::vector<GlobalIndex> cell_ids;
  std::vector<int> cell_owner;
  std::vector<GlobalIndex> cell_vertices; ///< (num cells, dim + 1) input vertex ids
  std::vector<GlobalIndex> vertex_ids;
  std::vector<int> vertex_owner;
};

/// Distributes `mesh` (read on rank 0) with DMPlex by the given parts (on rank 0) and adds every cell around
/// a shared vertex as ghost. Collective.
PlexPart distribute_with_plex(const parallel::Communicator& comm, const SimplexMesh& mesh,
                              std::span<const int> parts);

} // namespace recoil::mesh
