#pragma once

#include <array>
#include <span>
#include <vector>

#include "potentials/shape_products.hpp"
#include "recoil/fem/reference/tabulation.hpp"
#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::potentials {

/// Local cells of one order with their quadrature. For the derivatives by parameters, which are needed once
/// per step: without node counts known at compile time they are compiled once per law, not once per law and
/// order.
template <int dim>
struct CellPoints {
  const fem::FunctionSpace<dim>& space;
  const fem::CellGeometry<dim>& geometry;
  std::span<const LocalIndex> cells;
  const fem::Tabulation<dim>& table;

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
      sum += fem::node_block<dim>(v, nodes[a]) * basis_gradient(reference, a);
    return sum * geometry.inverse_edges[cell];
  }

  /// y_a += S grad phi_a for the owned nodes a of the cell.
  void scatter(LocalIndex cell, int point, const SquareMatrix<dim>& S, std::span<double> y) const {
    const SquareMatrix<dim> pulled_back = S * geometry.inverse_edges[cell].transpose();
    const auto nodes = space.cell_nodes(cell);
    const double* reference = table.gradient(point);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      if (nodes[a] < space.num_owned_nodes())
        fem::node_block<dim>(y, nodes[a]) += pulled_back * basis_gradient(reference, a).transpose();
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

/// The same as S : Gp, of D = grad dX: S = tr(D) P - P D' - A : (Gu D).
template <int dim>
SquareMatrix<dim> stress_shape_term(const SquareMatrix<dim>& P, const Tangent<dim>& A,
                                    const SquareMatrix<dim>& Gu, const SquareMatrix<dim>& D) {
  return D.trace() * P - P * D.transpose() - contract<dim>(A, SquareMatrix<dim>(Gu * D));
}

/// Arrays of what changes in cells; nullptr where something does not.
template <std::size_t count>
using CellChanges = std::array<const std::vector<double>*, count>;

/// sum_i dq_i dP/dq_i in a cell.
template <int dim, std::size_t count>
SquareMatrix<dim> stress_change(const std::array<SquareMatrix<dim>, count>& stress_derivatives,
                                const CellChanges<count>& changes, LocalIndex cell) {
  SquareMatrix<dim> change = SquareMatrix<dim>::Zero();
  for (std::size_t i = 0; i < count; ++i)
    if (changes[i]) change += (*changes[i])[cell] * stress_derivatives[i];
  return change;
}

} // namespace recoil::potentials
