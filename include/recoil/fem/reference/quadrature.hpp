#pragma once

#include <vector>

#include <Eigen/Core>

namespace recoil::fem {

/// Quadrature on the reference simplex {xi >= 0, sum xi <= 1}: positive weights that sum to 1/dim!, points
/// inside.
template <int dim>
struct QuadratureRule {
  int degree = 0; ///< all polynomials up to this total degree are integrated exactly
  std::vector<Eigen::Matrix<double, dim, 1>> points;
  std::vector<double> weights;

  int size() const { return weights.size(); }
};

/// A rule exact to `degree` or higher: fully symmetric rules of few points for low degrees [Dunavant 1985;
/// Keast 1986; Witherden, Vincent 2015], else the conical product of Gauss-Jacobi rules. dim = 1, 2, 3.
/// Points: 1D floor(degree/2) + 1; 2D 1, 3, 6, 6, 7, 12, 15, 16, 19, 25 for degrees 1..10; 3D 1, 4, 8, 14,
/// 14, 24, 35, 46 for 1..8.
/// @throws InputError for degrees outside 0..30.
template <int dim>
QuadratureRule<dim> simplex_quadrature(int degree);

/// Degree to which stiffness integrals on cells of the given order are exact for linear laws: max(2(k - 1),
/// 1).
constexpr int stiffness_degree(int order) { return order == 1 ? 1 : 2 * (order - 1); }

} // namespace recoil::fem
