#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/types.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// The cells and vertices that one rank holds of a partitioned simplex mesh: every cell that it owns and, as
/// ghosts, every other cell around a vertex that it owns. Loops over all local cells therefore complete the
/// rows of owned nodes without messages; sums over owned cells count every cell once.
///
/// Owned entries come first, then ghosts; both are ordered along a space-filling curve. The vertices of a
/// cell are in ascending order of their input ids, whatever the partition: cells that share an edge or face
/// see it in one direction, at the price that the orientation of a cell is not known from its vertex order.
template <int dim>
struct DistributedMesh {
  const parallel::Communicator* comm = nullptr;

  GlobalIndex num_vertices_global = 0, num_cells_global = 0;
  LocalIndex num_owned_vertices = 0, num_owned_cells = 0;

  std::vector<Eigen::Matrix<double, dim, 1>> vertices; ///< rest positions [m]
  std::vector<GlobalIndex> vertex_ids;                 ///< input ids, 0 .. num_vertices_global - 1
  std::vector<int> vertex_owner;                       ///< owning rank
  std::vector<std::int32_t> vertex_point_id;           ///< id given by point selections, 0 = none

  std::vector<std::array<LocalIndex, dim + 1>> cells; ///< vertices, ascending in input id
  std::vector<GlobalIndex> cell_ids;                  ///< input ids
  std::vector<std::int32_t> cell_body;                ///< index into body_names
  std::vector<std::int32_t> cell_volume_id;
  std::vector<GlobalIndex> cell_source;                     ///< index in the mesh file of the body
  std::vector<std::array<std::int32_t, dim + 1>> facet_ids; ///< surface id of the facet opposite to vertex i

  std::vector<std::string> body_names;
  Eigen::Matrix<double, dim, 1> min_corner, max_corner; ///< bounding box of all vertices [m]

  LocalIndex num_cells() const { return cells.size(); }
  LocalIndex num_vertices() const { return vertices.size(); }
};

/// How distribute() cuts the mesh.
struct PartitionOptions {
  /// Relative work of the cells of each body (for example k^dim for order k); empty = all equal.
  std::vector<int> body_weights;
};

/// Partitions `mesh` with METIS (k-way, dual graph with weak links between near cells of different bodies)
/// and gives every rank its share through DMPlex. `mesh` is read on rank 0 only and may be empty elsewhere. A
/// rank may end up without cells. Collective.
/// @throws InputError on every rank if the mesh has no cells.
template <int dim>
DistributedMesh<dim> distribute(const parallel::Communicator& comm, const SimplexMesh& mesh,
                                const PartitionOptions& options = {});

} // namespace recoil::mesh
