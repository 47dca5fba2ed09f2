#pragma once

#include <span>

#include <Eigen/Core>

#include "recoil/fem/function_space.hpp"

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

} // namespace recoil::potentials
