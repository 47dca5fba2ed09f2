#pragma once

#include <span>

#include <Eigen/Core>

#include "recoil/base/error.hpp"
#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/fem/reference/tabulation.hpp"
#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::potentials {

/// The quadrature of stiffness integrals on cells of one order; a single point where neither the deformation
/// gradient nor the constants vary in a cell.
template <int dim>
fem::QuadratureRule<dim> cell_quadrature(const fem::FunctionSpace<dim>& space, int order,
                                         int constants_per_cell) {
  const bool uniform = order == 1 && constants_per_cell == 1;
  return fem::simplex_quadrature<dim>(uniform ? 1 : space.stiffness_degree(order));
}

/// make.operator()<order>(), order from 1 to 4.
template <class Make>
auto of_order(int order, Make make) {
  RECOIL_ASSERT(order >= 1 && order <= 4);
  if (order == 1) return make.template operator()<1>();
  if (order == 2) return make.template operator()<2>();
  if (order == 3) return make.template operator()<3>();
  return make.template operator()<4>();
}

/// Gather, differentiate and scatter on cells with a node count known at compile time.
template <int dim, int nodes>
struct CellKernel {
  using Values = Eigen::Matrix<double, nodes, dim, Eigen::RowMajor>;
  using Gradients = Eigen::Matrix<double, nodes, dim, Eigen::RowMajor>;
  using Hessian = Eigen::Matrix<double, dim * nodes, dim * nodes>;

  static Values gather(std::span<const LocalIndex> cell_nodes, std::span<const double> u) {
    Values values;
    for (int a = 0; a < nodes; ++a) values.row(a) = fem::node_block<dim>(u, cell_nodes[a]);
    return values;
  }

  /// Gradients of the basis on the rest cell: reference gradients times D^-1.
  static Gradients gradients(const fem::Tabulation<dim>& table, int point,
                             const SquareMatrix<dim>& inverse_edges) {
    return Eigen::Map<const Gradients>(table.gradient(point)) * inverse_edges;
  }

  static SquareMatrix<dim> deformation_gradient(const Values& u, const Gradients& gradients) {
    SquareMatrix<dim> F = SquareMatrix<dim>::Identity();
    // Products this small are slower by Eigen's blocked kernels, which it would take from 20 nodes on.
    F.noalias() += u.transpose().lazyProduct(gradients);
    return F;
  }

  /// Adds to the entries of owned nodes.
  static void scatter(std::span<const LocalIndex> cell_nodes, LocalIndex num_owned, const Values& values,
                      std::span<double> g) {
    for (int a = 0; a < nodes; ++a)
      if (cell_nodes[a] < num_owned) fem::node_block<dim>(g, cell_nodes[a]) += values.row(a);
  }
};

} // namespace recoil::potentials
