#pragma once

#include <array>
#include <span>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::fem {

/// An edge, face or cell that carries nodes in its interior, known by its vertices.
struct Entity {
  std::array<LocalIndex, 4> vertices; ///< local, ascending in input id; unused entries -1
  std::array<GlobalIndex, 4> ids;     ///< their input ids; unused entries -1
  int dimension;
  int order;
  LocalIndex first_node = -1; ///< provisional local number of its first node
};

/// Provisional numbering of the nodes of the local cells: vertex nodes first, in the order of the vertices,
/// then those of edges, faces and cell interiors, entities of one dimension ordered by the input ids of their
/// vertices.
template <int dim>
struct EntityNodes {
  std::vector<Entity> entities; ///< sorted by (dimension, ids)
  std::vector<std::int64_t> cell_offsets;
  std::vector<LocalIndex> cell_nodes;
  LocalIndex num_nodes = 0;
};

/// Not collective. Cost O(cells * nodes per cell * log) work.
template <int dim>
EntityNodes<dim> number_entity_nodes(const mesh::DistributedMesh<dim>& mesh,
                                     std::span<const int> body_orders);

/// Canonical number of the first node of every owned entity (-1 for others): entities of one dimension follow
/// each other by the lexicographic order of their vertex ids over all ranks. Collective.
template <int dim>
std::vector<GlobalIndex> number_canonically(const mesh::DistributedMesh<dim>& mesh,
                                            const EntityNodes<dim>& nodes);

/// Number of nodes that order `order` puts inside an entity of the given dimension.
int nodes_inside(int dimension, int order);

} // namespace recoil::fem
