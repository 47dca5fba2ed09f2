#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recoil/base/types.hpp"

namespace recoil::inverse {

/// Simplices of a mesh that carry one number each.
struct ElementMesh {
  int dim = 0;
  std::vector<double> vertices;   ///< rest positions [m], dim per vertex
  std::vector<GlobalIndex> cells; ///< dim + 1 vertices per element

  std::size_t size() const { return cells.size() / (dim + 1); }
};

/// A normal distribution of a field with one number per element: mean zero, the same deviation everywhere,
/// correlated over a length rho. Its covariance is that of (kappa^2 - Laplace) x = white noise
/// [Whittle 1954, Biometrika 41, 434; Lindgren, Rue, Lindstroem 2011, J. R. Stat. Soc. B 73, 423]: far from
/// the boundary a Matern field with nu = 2 - dim / 2 and kappa = sqrt(8 nu) / rho, so that rho is the
/// distance at which the correlation has fallen to 0.14 (0.135 in 3D, where it is exp(-2 r / rho)). On
/// elements
///
///     R = L'L,  L = M^-1/2 (kappa^2 M + G) S^-1,
///
/// M the volumes, G a Laplacian whose energy is exact for linear fields on any mesh: at each vertex, with its
/// share of the volume around it, the square of the gradient that fits the values at the centroids of the
/// elements there best, and 3 dim / h^2 times the mean square of what it leaves, h^2 the mean square of their
/// distances from their centre. (Differences across faces would do with fewer entries, but are not isotropic:
/// on squares that are cut in two they make the length 1.3 times as long in one direction as in the other on
/// any mesh size.) The normal derivative is zero on the boundary. S is the diagonal that makes every
/// pointwise deviation exactly the one asked for, also near the boundary and whatever the sizes of the
/// elements. Elements should be smaller than rho / 4. Not collective.
class FieldPrior {
public:
  /// Factorises kappa^2 M + G, and solves with it once per element.
  /// @param mesh in 2D or 3D. @param correlation_length rho [m], > 0. @param deviation > 0, in the unit of
  /// the field. @throws InputError for an element without volume, or a length too long for the mesh.
  FieldPrior(const ElementMesh& mesh, double correlation_length, double deviation);

  /// Number of elements, and of the entries of all x and y below.
  std::size_t size() const;
  double deviation() const { return deviation_; }
  /// L x, which is white: its components are independent with deviation 1.
  std::vector<double> whiten(std::span<const double> x) const;
  /// L' y.
  std::vector<double> whiten_transposed(std::span<const double> y) const;
  /// L^-1 y: of white noise a field of this distribution.
  std::vector<double> colour(std::span<const double> y) const;
  /// L^-T x.
  std::vector<double> colour_transposed(std::span<const double> x) const;

private:
  struct Operator;
  std::shared_ptr<const Operator> operator_;
  double deviation_;
};

} // namespace recoil::inverse
