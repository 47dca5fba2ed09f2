#include "recoil/fem/reference/tabulation.hpp"

namespace recoil::fem {

template <int dim>
Tabulation<dim> tabulate(const LagrangeBasis<dim>& basis,
                         std::span<const Eigen::Matrix<double, dim, 1>> points) {
  Tabulation<dim> table;
  table.num_points = static_cast<int>(points.size());
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

template <int dim>
Tabulation<dim> tabulate(const LagrangeBasis<dim>& basis, const QuadratureRule<dim>& quadrature) {
  Tabulation<dim> table = tabulate(basis, std::span<const Eigen::Matrix<double, dim, 1>>(quadrature.points));
  table.weights = quadrature.weights;
  return table;
}

template <int dim>
Tabulation<dim> tabulate_on_facet(const LagrangeBasis<dim>& basis, int facet,
                                  const QuadratureRule<dim - 1>& quadrature) {
  std::vector<Eigen::Matrix<double, dim, 1>> points;
  for (const auto& point : quadrature.points) points.push_back(facet_to_cell<dim>(facet, point));
  Tabulation<dim> table = tabulate(basis, std::span<const Eigen::Matrix<double, dim, 1>>(points));
  table.weights = quadrature.weights;
  return table;
}

template Tabulation<1> tabulate(const LagrangeBasis<1>&, std::span<const Eigen::Matrix<double, 1, 1>>);
template Tabulation<2> tabulate(const LagrangeBasis<2>&, std::span<const Eigen::Matrix<double, 2, 1>>);
template Tabulation<3> tabulate(const LagrangeBasis<3>&, std::span<const Eigen::Matrix<double, 3, 1>>);
template Tabulation<1> tabulate(const LagrangeBasis<1>&, const QuadratureRule<1>&);
template Tabulation<2> tabulate(const LagrangeBasis<2>&, const QuadratureRule<2>&);
template Tabulation<3> tabulate(const LagrangeBasis<3>&, const QuadratureRule<3>&);
template Tabulation<2> tabulate_on_facet(const LagrangeBasis<2>&, int, const QuadratureRule<1>&);
template Tabulation<3> tabulate_on_facet(const LagrangeBasis<3>&, int, const QuadratureRule<2>&);

} // namespace recoil::fem
