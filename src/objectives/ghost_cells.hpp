#pragma once

#include <vector>

#include "recoil/mesh/distributed_mesh.hpp"
#include "recoil/parallel/halo.hpp"

namespace recoil::objectives {

/// Who owns the ghost cells of this rank.
struct GhostCells {
  parallel::Halo halo;           ///< from owned cells to copies on other ranks
  std::vector<LocalIndex> cells; ///< the local ghost cell of every halo entry
};

/// Asks for the owners through a directory of cell ids spread over all ranks. Collective.
template <int dim>
GhostCells find_ghost_cells(const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::objectives
