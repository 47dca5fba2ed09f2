#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/fem/reference/lagrange.hpp"
#include "recoil/fem/reference/quadrature.hpp"
#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/vector.hpp"
#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::fem {

/// A boundary facet of a cell that this rank holds.
struct BoundaryFacet {
  LocalIndex cell;
  int facet;       ///< opposite to this vertex of the cell
  std::int32_t id; ///< surface id
};

/// The components at a node of a field with `dim` numbers per node.
template <int dim>
auto node_block(std::span<const double> field, LocalIndex node) {
  return Eigen::Map<const Eigen::Matrix<double, dim, 1>>(field.data() + std::ptrdiff_t{dim} * node);
}
template <int dim>
auto node_block(std::span<double> field, LocalIndex node) {
  return Eigen::Map<Eigen::Matrix<double, dim, 1>>(field.data() + std::ptrdiff_t{dim} * node);
}

/// Vector-valued Lagrange functions of order 1..4 on a distributed mesh, the order chosen per body: nodes,
/// their numbering and the flat table from cells to nodes that every element loop uses.
///
/// A node is owned by the rank that owns the vertex with the smallest input id of the vertex, edge, face or
/// cell on which the node lies; that rank holds every cell around it. Local numbers: owned nodes first (along
/// a space-filling curve), then ghosts. Besides, every node has a canonical number that depends on neither
/// the partition nor the number of ranks: vertices by input id, then edge, face and cell nodes by the sorted
/// vertex ids of their entity; files use it.
template <int dim>
class FunctionSpace {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  /// @param body_orders order of each body of the mesh, 1..4. Collective.
  /// @param stiffness_degree degree of the quadrature of stiffness integrals in all cells, 1..30; by default
  /// fem::stiffness_degree of the order of a cell.
  /// @throws InputError on every rank when bodies of different orders share a vertex.
  FunctionSpace(const mesh::DistributedMesh<dim>& mesh, std::vector<int> body_orders,
                std::optional<int> stiffness_degree = {});

  const mesh::DistributedMesh<dim>& mesh() const { return *mesh_; }
  const parallel::Communicator& comm() const { return *mesh_->comm; }

  int order(LocalIndex cell) const { return body_orders_[mesh_->cell_body[cell]]; }
  const std::vector<int>& body_orders() const { return body_orders_; }
  int max_order() const { return max_order_; }
  static const LagrangeBasis<dim>& basis(int order);
  /// Degree of the quadrature of stiffness integrals in cells of an order.
  int stiffness_degree(int order) const { return stiffness_degree_.value_or(fem::stiffness_degree(order)); }

  /// Local numbers of the nodes of a cell, in the order of LagrangeBasis.
  std::span<const LocalIndex> cell_nodes(LocalIndex cell) const {
    const std::size_t begin = offsets_[cell];
    const std::size_t end = offsets_[cell + 1];
    return std::span(cell_nodes_).subspan(begin, end - begin);
  }

  LocalIndex num_owned_nodes() const { return layout_->num_owned; }
  LocalIndex num_nodes() const { return layout_->num_local(); }
  GlobalIndex num_nodes_global() const { return layout_->num_global; }
  /// Rest positions of the local nodes [m].
  const std::vector<Point>& node_positions() const { return positions_; }
  /// Canonical numbers of the local nodes, 0 .. num_nodes_global() - 1.
  const std::vector<GlobalIndex>& canonical_ids() const { return canonical_ids_; }
  /// Local node at a local vertex.
  LocalIndex node_of_vertex(LocalIndex vertex) const { return node_of_vertex_[vertex]; }

  /// Local cells of one order, ascending (owned first).
  const std::vector<LocalIndex>& cells_of_order(int order) const { return cells_of_order_[order]; }
  /// Every boundary facet of the local cells (ghost cells included), by ascending input id of the cell.
  const std::vector<BoundaryFacet>& boundary_facets() const { return boundary_facets_; }

  /// Layout of vectors with dim components per node.
  std::shared_ptr<const linalg::VectorLayout> layout() const { return layout_; }
  /// Which nodes share a cell.
  std::shared_ptr<const linalg::NodeGraph> graph() const { return graph_; }

private:
  void number_nodes();
  void build_graph();
  void collect_facets();

  const mesh::DistributedMesh<dim>* mesh_;
  std::vector<int> body_orders_;
  std::optional<int> stiffness_degree_;
  int max_order_ = 1;
  std::vector<std::int64_t> offsets_;
  std::vector<LocalIndex> cell_nodes_;
  std::vector<Point> positions_;
  std::vector<GlobalIndex> canonical_ids_;
  std::vector<LocalIndex> node_of_vertex_;
  std::array<std::vector<LocalIndex>, LagrangeBasis<dim>::max_order + 1> cells_of_order_;
  std::vector<BoundaryFacet> boundary_facets_;
  std::shared_ptr<const linalg::VectorLayout> layout_;
  std::shared_ptr<const linalg::NodeGraph> graph_;
};

} // namespace recoil::fem
