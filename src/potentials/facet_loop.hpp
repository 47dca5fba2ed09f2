#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "recoil/fem/function_space.hpp"
#include "recoil/fem/reference/tabulation.hpp"

namespace recoil::potentials {

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
