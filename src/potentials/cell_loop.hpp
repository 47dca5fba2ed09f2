#pragma once

#include <array>
#include <span>
#include <vector>

#include "potentials/shape_products.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parameters/cell_field.hpp"
#include "recoil/potentials/laws/element_hessian.hpp"
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

/// Gather, differentiate and scatter on cells with `nodes` nodes, or any number of them (Eigen::Dynamic).
template <int dim, int nodes>
struct CellKernel {
  static constexpr int max_nodes = nodes == Eigen::Dynamic ? max_element_nodes : nodes;
  static constexpr int size = nodes == Eigen::Dynamic ? nodes : dim * nodes;
  using Values = Eigen::Matrix<double, nodes, dim, Eigen::RowMajor, max_nodes, dim>;
  using Gradients = Values;
  using Hessian = Eigen::Matrix<double, size, size, Eigen::ColMajor, dim * max_nodes, dim * max_nodes>;

  static Values gather(std::span<const LocalIndex> cell_nodes, std::span<const double> u) {
    Values values(num_nodes(cell_nodes), dim);
    for (Eigen::Index a = 0; a < values.rows(); ++a) values.row(a) = fem::node_block<dim>(u, cell_nodes[a]);
    return values;
  }

  /// Gradients of the basis on the rest cell: reference gradients times D^-1.
  static Gradients gradients(const fem::Tabulation<dim>& table, int point,
                             const SquareMatrix<dim>& inverse_edges) {
    const Eigen::Index rows = nodes == Eigen::Dynamic ? table.num_nodes : nodes;
    return Eigen::Map<const Gradients>(table.gradient(point), rows, dim) * inverse_edges;
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
    for (Eigen::Index a = 0; a < values.rows(); ++a)
      if (cell_nodes[a] < num_owned) fem::node_block<dim>(g, cell_nodes[a]) += values.row(a);
  }

private:
  static Eigen::Index num_nodes(std::span<const LocalIndex> cell_nodes) {
    return nodes == Eigen::Dynamic ? static_cast<Eigen::Index>(cell_nodes.size()) : nodes;
  }
};

/// Local cells of one order with their quadrature and the constants of their law. For the derivatives by
/// parameters, which are needed once per step: without node counts known at compile time they are compiled
/// once per law, not once per law and order.
template <int dim>
struct CellPoints {
  const fem::FunctionSpace<dim>& space;
  const fem::CellGeometry<dim>& geometry;
  std::span<const LocalIndex> cells;
  const fem::Tabulation<dim>& table;
  const parameters::CellField& constants;

  bool is_owned(LocalIndex cell) const { return cell < space.mesh().num_owned_cells; }

  /// Quadrature weight on the rest mesh [m^dim].
  double weight(LocalIndex cell, int point) const {
    return geometry.weight_factor(cell) * table.weights[point];
  }

  /// (grad v)_ij = dv_i / dX_j of a nodal field with ghosts.
  SquareMatrix<dim> gradient(LocalIndex cell, int point, std::span<const double> v) const {
    const auto nodes = space.cell_nodes(cell);
    const double* reference = table.gradient(point);
    SquareMatrix<dim> sum = SquareMatrix<dim>::Zero();
    for (std::size_t a = 0; a < nodes.size(); ++a)
      sum += fem::node_block<dim>(v, nodes[a]).lazyProduct(basis_gradient(reference, a));
    return sum * geometry.inverse_edges[cell];
  }

  /// y_a += S grad phi_a for the owned nodes a of the cell.
  void scatter(LocalIndex cell, int point, const SquareMatrix<dim>& S, std::span<double> y) const {
    const SquareMatrix<dim> pulled_back = S * geometry.inverse_edges[cell].transpose();
    const auto nodes = space.cell_nodes(cell);
    const double* reference = table.gradient(point);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      if (nodes[a] < space.num_owned_nodes())
        fem::node_block<dim>(y, nodes[a]) +=
            pulled_back.lazyProduct(basis_gradient(reference, a).transpose());
  }

private:
  static auto basis_gradient(const double* gradients, std::size_t node) {
    return Eigen::Map<const Eigen::Matrix<double, 1, dim>>(gradients + dim * node);
  }
};

/// (G : A)_kl = G_ij A_ijkl.
template <int dim>
SquareMatrix<dim> contract(const SquareMatrix<dim>& G, const Tangent<dim>& A) {
  SquareMatrix<dim> Z = SquareMatrix<dim>::Zero();
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j)
      for (int k = 0; k < dim; ++k)
        for (int l = 0; l < dim; ++l) Z(k, l) += G(i, j) * A(dim * i + j, dim * k + l);
  return Z;
}

/// (A : G)_ij = A_ijkl G_kl.
template <int dim>
SquareMatrix<dim> contract(const Tangent<dim>& A, const SquareMatrix<dim>& G) {
  return contract<dim>(G, Tangent<dim>(A.transpose()));
}

/// A : B = A_ij B_ij.
template <int dim>
double inner_product(const SquareMatrix<dim>& A, const SquareMatrix<dim>& B) {
  return A.cwiseProduct(B).sum();
}

/// The change of (P : grad p) dX through the rest mesh is T : grad dX with T = (P : Gp) I - Gp' P - Gu' Z,
/// Z = Gp : A.
template <int dim>
SquareMatrix<dim> virtual_work_shape_term(const SquareMatrix<dim>& P, const SquareMatrix<dim>& Z,
                                          const SquareMatrix<dim>& Gp, const SquareMatrix<dim>& Gu) {
  return inner_product<dim>(P, Gp) * SquareMatrix<dim>::Identity() - Gp.transpose() * P - Gu.transpose() * Z;
}

/// The stress S whose product S : Gp is that change for D = grad dX: S = tr(D) P - P D' - A : (Gu D).
template <int dim>
SquareMatrix<dim> stress_shape_term(const SquareMatrix<dim>& P, const Tangent<dim>& A,
                                    const SquareMatrix<dim>& Gu, const SquareMatrix<dim>& D) {
  return D.trace() * P - P * D.transpose() - contract<dim>(A, SquareMatrix<dim>(Gu * D));
}

/// sum_i dq_i dP/dq_i in a cell. `changes`: dq_i by cell, nullptr where it does not change.
template <int dim>
SquareMatrix<dim> stress_change(std::span<const SquareMatrix<dim>> stress_derivatives,
                                std::span<const std::vector<double>* const> changes, LocalIndex cell) {
  SquareMatrix<dim> change = SquareMatrix<dim>::Zero();
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (changes[i]) change += (*changes[i])[cell] * stress_derivatives[i];
  return change;
}

} // namespace recoil::potentials
