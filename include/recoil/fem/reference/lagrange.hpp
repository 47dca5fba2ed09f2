#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/geometry/simplex_lattice.hpp"

namespace recoil::fem {

/// Lagrange basis of order 1..4 on the equispaced lattice of the reference simplex {xi >= 0, sum xi <= 1};
/// vertex 0 is the origin, vertex i the i-th unit vector. Node order and node tuples:
/// geometry::SimplexLattice. With the vertices of each cell sorted by global id, shared edges and faces see
/// their nodes in the same order from all cells.
template <int dim>
class LagrangeBasis {
public:
  static constexpr int max_order = 4;
  using Point = Eigen::Matrix<double, dim, 1>;
  using MultiIndex = typename geometry::SimplexLattice<dim>::MultiIndex;

  /// @throws InputError for orders outside 1..4.
  explicit LagrangeBasis(int order);

  int order() const { return lattice_.order(); }
  int num_nodes() const { return lattice_.size(); }
  const geometry::SimplexLattice<dim>& lattice() const { return lattice_; }
  const MultiIndex& multi_index(int node) const { return lattice_.multi_index(node); }
  /// Reference coordinates of a node.
  Point node(int node) const;

  /// phi_a(xi) = prod_i P_{alpha_i}(lambda_i), P_m(l) = prod_{s<m} (k l - s)/(s + 1).
  /// @param[out] values [num_nodes].
  void values(const Point& xi, std::span<double> values) const;
  /// @param[out] gradients d phi_a / d xi_j, [num_nodes][dim].
  void gradients(const Point& xi, std::span<double> gradients) const;

  /// Nodes on the facet opposite to vertex `facet`, in the node order of LagrangeBasis<dim - 1> on the
  /// facet's ascending vertices: the cell's basis restricted to the facet is that basis.
  std::vector<int> facet_nodes(int facet) const { return lattice_.facet_points(facet); }

private:
  geometry::SimplexLattice<dim> lattice_;
};

/// Number of nodes of order `order` on a simplex: binomial(order + dim, dim).
constexpr int num_lagrange_nodes(int dim, int order) {
  int n = 1;
  for (int i = 1; i <= dim; ++i) n = n * (order + i) / i;
  return n;
}

/// Vertices of the facet opposite to `facet`, ascending.
template <int dim>
constexpr std::array<int, dim> facet_vertices(int facet) {
  std::array<int, dim> v{};
  for (int i = 0; i < dim; ++i) v[i] = i < facet ? i : i + 1;
  return v;
}

/// +1 if the ascending vertices of the facet opposite to `facet` turn its normal outwards in a cell with
/// positive determinant (2D: normal (dy, -dx) of the directed edge; 3D: right-hand rule), else -1. Multiply
/// by the sign of the cell's determinant.
constexpr double outward_sign(int facet) { return facet % 2 == 0 ? 1.0 : -1.0; }

/// Reference coordinates in the cell of a point given in reference coordinates of its facet opposite to
/// `facet`.
template <int dim>
Eigen::Matrix<double, dim, 1> facet_to_cell(int facet, const Eigen::Matrix<double, dim - 1, 1>& point) {
  const std::array<int, dim> vertices = facet_vertices<dim>(facet);
  Eigen::Matrix<double, dim + 1, 1> lambda = Eigen::Matrix<double, dim + 1, 1>::Zero();
  lambda[vertices[0]] = 1.0 - point.sum();
  for (int i = 1; i < dim; ++i) lambda[vertices[i]] = point[i - 1];
  return lambda.template tail<dim>();
}

/// Splits a cell of the given order into order^dim linear cells on its lattice, each with the orientation of
/// the cell itself (positive in reference coordinates). Edgewise subdivision [Edelsbrunner, Grayson 2000]: on
/// a facet it is the subdivision of the facet, so neighbours with sorted vertices agree. Entries are local
/// node numbers.
template <int dim>
std::vector<std::array<int, dim + 1>> subdivide_cell(int order);

/// Splits the facet opposite to vertex `facet` into order^(dim - 1) linear facets oriented like its ascending
/// vertices (fem::outward_sign). Entries are local node numbers of the cell.
template <int dim>
std::vector<std::array<int, dim>> subdivide_facet(int order, int facet);

/// For each node of the VTK/XDMF cell (triangle, quadratic triangle, tetrahedron, quadratic tetrahedron), our
/// local node number. `mirrored` exchanges the last two vertices, for cells with negative determinant.
/// @throws InputError for orders above 2 (subdivide those).
std::vector<int> vtk_nodes(int dim, int order, bool mirrored = false);

extern template class LagrangeBasis<1>;
extern template class LagrangeBasis<2>;
extern template class LagrangeBasis<3>;

} // namespace recoil::fem
