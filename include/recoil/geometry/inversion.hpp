#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "recoil/geometry/simplex_lattice.hpp"

namespace recoil::geometry {

/// How far a linear element may move before it inverts: a step t in [0, 1] such that det(F + s dF) > 0 for
/// all s in [0, t], at most a relative 1e-9 and rounding below the smallest positive root of that quadratic
/// (2D) or cubic (3D), and 1 if there is no root in [0, 1]. Never late: the root is isolated by Bernstein
/// coefficients with rounding errors counted against the step, so near-double roots that may or may not touch
/// zero stop it. Returns 0 if det F is not safely positive or anything is not finite.
/// @param F  deformation gradient now (any matrix with a determinant of the right sign, e.g. edge matrices).
/// @param dF its change over the full step.
template <int dim>
double inversion_free_step(const Eigen::Matrix<double, dim, dim>& F,
                           const Eigen::Matrix<double, dim, dim>& dF);

/// Proves that a Lagrange element of order 1..4 is nowhere inverted: det(grad x) > 0 over the whole element,
/// not only at quadrature points. The determinant is a polynomial of degree dim (order - 1); it lies above
/// its smallest Bernstein coefficient [Johnen, Remacle, Geuzaine 2013]. Where that does not decide, the
/// element is bisected at its longest edges up to a fixed depth; what is still open then counts as not
/// proven.
///
/// Tables are built once by the constructor; is_positive uses no heap and may be called from several threads.
template <int dim>
class JacobianPositivity {
public:
  /// @param order of the element's nodes, 1..4. @throws InputError for other orders.
  explicit JacobianPositivity(int order);

  int order() const { return order_; }
  int num_nodes() const { return num_nodes_; }

  /// @param positions node positions [num_nodes()][dim] in the order of SimplexLattice<dim>(order).
  /// @param rest_sign sign of the determinant of the rest element's edge matrix [X1 - X0, ..]: any positive
  /// number or any
  ///        negative number. Cells ordered by vertex ids may have either.
  /// @return true if det(grad x) > 0 everywhere in the element is proven; false if it is violated or not
  /// proven.
  bool is_positive(const double* positions, double rest_sign) const;

private:
  static constexpr int max_gradients = dim == 2 ? 10 : 20;     ///< lattice points of order 3
  static constexpr int max_products = dim == 2 ? 28 : 84;      ///< of order 2 * 3
  static constexpr int max_coefficients = dim == 2 ? 28 : 220; ///< of order dim * 3
  static constexpr int max_depth = 5 * dim;
  static constexpr int max_bisections = 4096;

  /// Bernstein coefficients on a part of the element and that part's corners in barycentric coordinates.
  struct Part {
    Eigen::Matrix<double, max_coefficients, 1> coefficients;
    Eigen::Matrix<double, dim + 1, dim + 1> corners;
  };
  /// One averaging of de Casteljau's bisection: c[target] = (c[target] + c[from])/2.
  struct Average {
    std::int16_t target, from;
  };

  void determinant_coefficients(const Eigen::Matrix<double, dim, dim>* gradients, Part& part) const;
  bool bisect(const Part& part, double bound, int depth, int& bisections) const;

  int order_;
  int num_nodes_;
  SimplexLattice<dim> gradient_lattice_, determinant_lattice_;
  /// Bernstein coefficients of dx/dxi_j from node positions: [gradient point][j][node].
  std::vector<double> control_;
  std::vector<double> gradient_multinomial_, inverse_determinant_multinomial_;
  /// Lattice point of the product of two factors: [first][second].
  std::vector<std::int16_t> first_product_, second_product_;
  int num_products_ = 0;
  /// Bisection of edge e: the half that keeps its first vertex, then the one that keeps its second.
  std::vector<std::vector<Average>> halves_;
};

extern template class JacobianPositivity<2>;
extern template class JacobianPositivity<3>;

} // namespace recoil::geometry
