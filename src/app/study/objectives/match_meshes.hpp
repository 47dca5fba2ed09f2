#pragma once

#include <optional>
#include <vector>

#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

/// Nodes and drawn cells of a mesh in the order of a trajectory, each rank with its block of either
/// (io::block_begin).
template <int dim>
struct MeshRows {
  GlobalIndex num_nodes = 0, num_cells = 0;
  std::vector<double> coordinates; ///< dim numbers per node [m]
  std::vector<checkpoint::DrawnCell> cells;
};

/// The node of `other` at each node of this rank's block of `mesh`, where the two hold the same cells within
/// `tolerance` [m], in whatever order: cells are found by where they are and nodes by the cells around them,
/// so that bodies may touch. None where the meshes differ, or cells lie upon each other. Collective.
template <int dim>
std::optional<std::vector<GlobalIndex>> match_nodes(const parallel::Communicator& comm,
                                                    const MeshRows<dim>& mesh, const MeshRows<dim>& other,
                                                    double tolerance);

} // namespace recoil::app
