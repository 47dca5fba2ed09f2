#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "recoil/geometry/friction_smoothing.hpp"
#include "recoil/potentials/contact/barrier.hpp"

namespace recoil::potentials {

/// Coefficients of friction between bodies (numbers as in surface::Surface and Plane).
struct FrictionCoefficients {
  std::vector<double> values;
  /// Which of `values` two bodies have. Symmetric; null: no friction.
  std::function<std::size_t(std::int32_t, std::int32_t)> entry;

  explicit operator bool() const { return entry != nullptr; }
  double operator()(std::int32_t a, std::int32_t b) const { return values[entry(a, b)]; }
};

/// Terms of friction by their sliding |w|: below eta (sticking), or not.
struct FrictionCounts {
  GlobalIndex sticking = 0, sliding = 0;
};

/// Smoothed Coulomb friction with lagged normal forces and contact frames [Li et al. 2020, section 5]:
/// Phi = sum_k mu_k N_k f0(|w_k|), w_k = (I - n n') Gamma (x - x_start) the tangential sliding since the
/// start of the step, f0 smoothed below the length eta = eps_v dt.
///
/// Where the barrier has an adhesion_peak this is tangential adhesion [Fang et al. 2023]: N_k is the largest
/// pull of the pair, whatever its distance, and f0 the one of geometry::tangential_adhesion.
template <int dim>
class Friction {
public:
  using Point = typename surface::Surface<dim>::Point;

  /// One lagged term of the barrier.
  struct Stencil {
    int num_vertices;
    std::array<LocalIndex, 4> vertices; ///< numbers in vertices()
    Eigen::Vector4d weights;            ///< Gamma at the lagged closest points
    Point normal;
    double strength; ///< mu N [N]; negative where inclusion-exclusion takes away
  };

  /// No friction.
  Friction() = default;
  /// Takes the frames and normal forces N of `pairs`, `stiffness` times Barrier::force or that of adhesion,
  /// whose vertices refer to `vertices`; pairs of nearly parallel edges have no friction. `start`: positions
  /// of the vertices at the start of the step. Keeps the pairs for derivatives by the lagged positions. Not
  /// collective.
  Friction(const Barrier<dim>& barrier, std::shared_ptr<const std::vector<ContactPair<dim>>> pairs,
           std::shared_ptr<const surface::StencilVertices<dim>> vertices, std::vector<Point> start,
           double stiffness, double eta, FrictionCoefficients coefficients);

  /// The terms of the pairs with `body` (or obstacle, or plane) only.
  Friction of(std::int32_t body) const;

  /// False on a rank without a lagged contact.
  bool acts_here() const { return !stencils_.empty(); }
  const std::vector<Stencil>& stencils() const { return stencils_; }
  /// What the stencils refer to; null without friction.
  const std::shared_ptr<const surface::StencilVertices<dim>>& vertices() const { return vertices_; }

  /// This rank's terms.
  FrictionCounts count(const std::vector<Point>& positions) const;
  /// This rank's share of Phi [J]; `positions` of all vertices().
  double value(const std::vector<Point>& positions) const;
  /// dPhi/dx at all vertices() (contributions of this rank's stencils).
  std::vector<Point> gradient(const std::vector<Point>& positions) const;
  /// H += factor d2Phi/dx2, without the rows and columns of prescribed components.
  void add_hessian(const std::vector<Point>& positions, double factor, linalg::StencilSink& H) const;
  /// d2Phi/dx2 p at all vertices() (contributions of this rank's stencils) from p there, prescribed
  /// components included.
  std::vector<Point> hessian_product(const std::vector<Point>& positions, const std::vector<Point>& p) const;

  /// H += factor S, without the rows and columns of prescribed components; S is the secant matrix at
  /// `positions`, with dPhi/dx = S (x - x_start) there, without the stencils of negative strength. The
  /// quadratic function with S, value and gradient of Phi there is nowhere below Phi.
  void add_secants(const std::vector<Point>& positions, double factor, linalg::StencilSink& H) const;
  /// S p at all vertices() (contributions of this rank's stencils) from p there, prescribed components
  /// included.
  std::vector<Point> secant_product(const std::vector<Point>& positions, const std::vector<Point>& p) const;

  /// The pairs that frames and normal forces are of, those without a coefficient or strength included.
  const std::vector<ContactPair<dim>>& lagged_pairs() const { return *lagged_; }
  double coefficient(const ContactPair<dim>& pair) const {
    return coefficients_(pair.bodies[0], pair.bodies[1]);
  }
  double stiffness() const { return stiffness_; }
  /// p . dPhi/dx of each of lagged_pairs() per unit of stiffness, of its coefficient and of its weight: right
  /// where these are 0, too.
  std::vector<double> unit_force_products(const std::vector<Point>& positions,
                                          const std::vector<Point>& p) const;
  /// The transpose: sum_k factors_k times dPhi/dx of the k-th of lagged_pairs() per unit of these; at all
  /// vertices() (contributions of this rank's pairs).
  std::vector<Point> unit_forces(const std::vector<Point>& positions,
                                 const std::vector<double>& factors) const;
  /// Derivative of p . dPhi/dx by the lagged positions, on which frames and normal forces depend, at fixed
  /// sliding, coefficients, weights and stiffness; at all vertices() (contributions of this rank's pairs).
  std::vector<Point> lag_product(const std::vector<Point>& positions, const std::vector<Point>& p) const;
  /// The transpose of lag_product(): change of dPhi/dx where the lagged positions change by x.
  std::vector<Point> lag_tangent(const std::vector<Point>& positions, const std::vector<Point>& x) const;

private:
  /// Derivative of the weight of the geometric contact potential by the points of the pair's stencil.
  Eigen::VectorXd weight_gradient(const ContactPair<dim>& pair) const;
  template <class Product>
  std::vector<Point> lag_derivative(const std::vector<Point>& positions, const std::vector<Point>& x,
                                    Product product) const;
  void add_to(linalg::StencilSink& H, const Stencil& stencil, const Eigen::Matrix<double, dim, dim>& A) const;
  Point sliding(const Stencil& stencil, const std::vector<Point>& positions) const;
  std::vector<Point> since_start(const std::vector<Point>& positions) const;

  std::shared_ptr<const surface::StencilVertices<dim>> vertices_;
  std::vector<Point> start_;
  std::vector<Stencil> stencils_;
  std::shared_ptr<const std::vector<ContactPair<dim>>> lagged_;
  FrictionCoefficients coefficients_;
  double stiffness_ = 0, eta_ = 1;
  geometry::SlidingLaw law_ = geometry::coulomb_friction;
  std::optional<Barrier<dim>> barrier_; ///< barrier whose forces are lagged
};

} // namespace recoil::potentials
