#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/fem/reference/lagrange.hpp"
#include "recoil/fem/reference/quadrature.hpp"

namespace recoil::fem {

/// Basis values and reference gradients at a list of points, in flat arrays.
template <int dim>
struct Tabulation {
  int num_points = 0;
  int num_nodes = 0;
  std::vector<double> values;    ///< [num_points][num_nodes]
  std::vector<double> gradients; ///< [num_points][num_nodes][dim]; d phi / d xi
  std::vector<double> weights;   ///< [num_points]; empty unless made from a quadrature

  /// Values of all nodes at one point.
  const double* value(int point) const { return values.data() + offset(point); }
  /// Gradients [num_nodes][dim] at one point.
  const double* gradient(int point) const { return gradients.data() + offset(point) * dim; }

private:
  std::size_t offset(int point) const { return point * num_nodes; }
};

/// Tabulates at given points of the reference cell.
template <int dim>
Tabulation<dim> tabulate(const LagrangeBasis<dim>& basis,
                         std::span<const Eigen::Matrix<double, dim, 1>> points) {
  Tabulation<dim> table;
  table.num_points = points.size();
  table.num_nodes = basis.num_nodes();
  const std::size_t row = table.num_nodes;
  table.values.resize(points.size() * row);
  table.gradients.resize(points.size() * row * dim);
  for (std::size_t q = 0; q < points.size(); ++q) {
    basis.values(points[q], std::span(table.values).subspan(q * row, row));
    basis.gradients(points[q], std::span(table.gradients).subspan(q * row * dim, row * dim));
  }
  return table;
}

/// Tabulates at the points of a quadrature and keeps its weights. For a facet, tabulate LagrangeBasis<dim -
/// 1> and scatter by LagrangeBasis<dim>::facet_nodes.
template <int dim>
Tabulation<dim> tabulate(const LagrangeBasis<dim>& basis, const QuadratureRule<dim>& quadrature) {
  Tabulation<dim> table = tabulate(basis, std::span<const Eigen::Matrix<double, dim, 1>>(quadrature.points));
  table.weights = quadrature.weights;
  return table;
}

} // namespace recoil::fem
