#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/dirichlet.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/fem/reference/tabulation.hpp"

namespace recoil::potentials {

/// Value of a nodal field (node-major, dim components) at a point, from the basis of `nodes` there.
template <int dim>
Eigen::Matrix<double, dim, 1> interpolate(std::span<const LocalIndex> nodes, const double* basis,
                                          std::span<const double> field) {
  Eigen::Matrix<double, dim, 1> sum = Eigen::Matrix<double, dim, 1>::Zero();
  for (std::size_t a = 0; a < nodes.size(); ++a) sum += basis[a] * fem::node_block<dim>(field, nodes[a]);
  return sum;
}

/// Rest position of a point, from the basis itself (affine cells: exact).
template <int dim>
Eigen::Matrix<double, dim, 1> rest_position(const fem::FunctionSpace<dim>& space,
                                            std::span<const LocalIndex> nodes, const double* basis) {
  Eigen::Matrix<double, dim, 1> sum = Eigen::Matrix<double, dim, 1>::Zero();
  for (std::size_t a = 0; a < nodes.size(); ++a) sum += basis[a] * space.node_positions()[nodes[a]];
  return sum;
}

/// Adds weighted_value * phi_a to the entries of the owned nodes.
template <int dim>
void add_to_nodes(const fem::FunctionSpace<dim>& space, std::span<const LocalIndex> nodes,
                  const double* basis, const Eigen::Matrix<double, dim, 1>& weighted_value,
                  std::span<double> entries) {
  for (std::size_t a = 0; a < nodes.size(); ++a)
    if (nodes[a] < space.num_owned_nodes())
      fem::node_block<dim>(entries, nodes[a]) += basis[a] * weighted_value;
}

/// Quadrature exact to degree 2k on cells of order k: of products of two of their basis functions.
template <int dim>
fem::Tabulation<dim> mass_table(int order) {
  return fem::tabulate(fem::FunctionSpace<dim>::basis(order), fem::simplex_quadrature<dim>(2 * order));
}

/// act(cell, nodes, basis, weight on the rest mesh, ExpressionPoint of the rest position and `time`) at the
/// points of mass_table() of all local cells or of the owned ones.
template <int dim, class Act>
void for_mass_points(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                     double time, bool owned_only, Act act) {
  for (int order = 1; order <= space.max_order(); ++order) {
    if (space.cells_of_order(order).empty()) continue;
    const fem::Tabulation<dim> table = mass_table<dim>(order);
    for (const LocalIndex cell : space.cells_of_order(order)) {
      if (owned_only && cell >= space.mesh().num_owned_cells) continue;
      const auto nodes = space.cell_nodes(cell);
      for (int q = 0; q < table.num_points; ++q)
        act(cell, nodes, table.value(q), geometry.weight_factor(cell) * table.weights[q],
            fem::expression_point<dim>(rest_position<dim>(space, nodes, table.value(q)), time));
    }
  }
}

/// The nodes of a boundary facet (`cell_nodes`: their numbers in the cell) and the basis on it, tabulated for
/// quadrature. `outward` is +1 where the ascending vertices of the facet turn its normal outwards, else -1.
template <int dim>
struct FacetElement {
  std::vector<LocalIndex> nodes;
  std::vector<int> cell_nodes;
  const fem::Tabulation<dim - 1>* table;
  double outward;
};

/// Tabulations of the facet bases of order 1..4 for quadrature of a degree that may depend on the order.
template <int dim>
class FacetTables {
public:
  /// @param degree degree of exactness for each order, [1..4].
  explicit FacetTables(const std::array<int, 5>& degree) {
    for (int order = 1; order <= 4; ++order)
      tables_[order] =
          fem::tabulate(fem::LagrangeBasis<dim - 1>(order), fem::simplex_quadrature<dim - 1>(degree[order]));
  }

  /// @param edge_determinant det D of the facet's cell (fem::CellGeometry).
  FacetElement<dim> element(const fem::FunctionSpace<dim>& space, const fem::BoundaryFacet& facet,
                            double edge_determinant) const {
    const int order = space.order(facet.cell);
    const auto cell_nodes = space.cell_nodes(facet.cell);
    FacetElement<dim> element;
    element.cell_nodes = space.basis(order).facet_nodes(facet.facet);
    for (const int node : element.cell_nodes) element.nodes.push_back(cell_nodes[node]);
    element.table = &tables_[order];
    element.outward = fem::outward_sign(facet.facet) * (edge_determinant > 0 ? 1.0 : -1.0);
    return element;
  }

private:
  std::array<fem::Tabulation<dim - 1>, 5> tables_;
};

/// Tangent vectors dx/dxi_j (columns) at a quadrature point of a facet with node positions x.
template <int dim>
Eigen::Matrix<double, dim, dim - 1> facet_tangents(const FacetElement<dim>& element, int point,
                                                   const std::vector<Eigen::Matrix<double, dim, 1>>& x) {
  Eigen::Matrix<double, dim, dim - 1> tangents = Eigen::Matrix<double, dim, dim - 1>::Zero();
  const double* gradients = element.table->gradient(point);
  for (std::size_t a = 0; a < element.nodes.size(); ++a)
    for (int j = 0; j < dim - 1; ++j) tangents.col(j) += gradients[a * (dim - 1) + j] * x[a];
  return tangents;
}

/// Normal times area element: (dy, -dx) in 2D, x_,1 x x_,2 in 3D; outward after multiplication by `outward`.
template <int dim>
Eigen::Matrix<double, dim, 1> area_vector(const Eigen::Matrix<double, dim, dim - 1>& tangents) {
  if constexpr (dim == 2)
    return {tangents(1, 0), -tangents(0, 0)};
  else
    return tangents.col(0).cross(tangents.col(1));
}

} // namespace recoil::potentials
