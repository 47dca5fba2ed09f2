#pragma once

#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/mesh/distributed_mesh.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// All deformable geometries of a scene before they are partitioned, of which every rank holds a slice: of
/// each body some consecutive cells, in the order of ranks, with the vertices of these. No rank holds the
/// whole.
struct SlicedMesh {
  SimplexMesh share;                           ///< with vertices numbered as they lie here
  std::vector<std::int32_t> vertex_ids;        ///< number in the whole of each vertex, ascending
  std::vector<std::int32_t> cell_ids;          ///< number in the whole of each cell, ascending
  GlobalIndex num_vertices = 0, num_cells = 0; ///< of the whole
};

/// Part of each cell of the share: cells are put into clusters, the cubes of an octree that hold about as
/// much work each, and METIS cuts the graph of clusters on one rank. Depends on the mesh and the number of
/// ranks only. Collective.
std::vector<int> partition_slices(const parallel::Communicator& comm, const SlicedMesh& mesh,
                                  const PartitionOptions& options = {});

/// Gives every rank the cells of `parts` that are its own and the ghosts around its vertices: what
/// distribute() makes of the whole mesh with the same parts. Collective.
/// @param parts of the cells of the share.
/// @throws InputError on every rank if the mesh has no cells.
template <int dim>
DistributedMesh<dim> distribute_slices(const parallel::Communicator& comm, SlicedMesh&& mesh,
                                       const std::vector<int>& parts);

} // namespace recoil::mesh
