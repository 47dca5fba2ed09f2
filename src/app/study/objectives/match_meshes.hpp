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
  GlobalIndex first_node = 0;      ///< of this rank's block
  std::vector<double> coordinates; ///< dim numbers per node [m]
  std::vector<checkpoint::DrawnCell> cells;
};

/// Puts what ranks own into this order.
/// @param positions of the nodes, dim numbers each. @param ends of the cells: `width` nodes each, -1: none.
/// Collective.
template <int dim>
MeshRows<dim> rows_of(const io::BlockLayout& nodes, std::span<const double> positions,
                      const io::BlockLayout& cells, std::span<const GlobalIndex> ends, std::size_t width) {
  MeshRows<dim> rows{nodes.global_size(),
                     cells.global_size(),
                     nodes.block_begin(),
                     nodes.template to_blocks<double>(positions, dim),
                     {}};
  const auto in_order = cells.template to_blocks<GlobalIndex>(ends, width);
  for (std::size_t first = 0; first < in_order.size(); first += width) {
    rows.cells.emplace_back().fill(-1);
    std::copy_n(in_order.begin() + first, width, rows.cells.back().begin());
  }
  return rows;
}

/// The node of `other` at each node of this rank's block of `mesh`, where the two hold the same cells within
/// `tolerance` [m], in whatever order: cells are found by where they are and nodes by the cells around them,
/// so that bodies may touch. None where the meshes differ, or cells lie upon each other. Collective.
template <int dim>
std::optional<std::vector<GlobalIndex>> match_nodes(const parallel::Communicator& comm,
                                                    const MeshRows<dim>& mesh, const MeshRows<dim>& other,
                                                    double tolerance);

} // namespace recoil::app
