#pragma once

#include <array>
#include <string_view>

#include "recoil/potentials/laws/element_hessian.hpp"
#include "recoil/potentials/laws/kinematics.hpp"
#include "recoil/potentials/laws/viscous_stress.hpp"

namespace recoil::potentials {

/// Strain-rate proportional damping over one step, from the difference of Green strains so that it has a
/// potential (spec 1.4, variant E): D = (E(F) - E(F_previous))/dt, S = 2 psi D + phi tr(D) I, P = F S = dW/dF
/// with
///
///     W = dt (psi D:D + phi/2 tr(D)^2).
///
/// psi (shear) and phi (bulk) are viscosities [Pa s]; dt [s] is the first-order step whatever the integrator.
template <int dim>
struct StrainRateDamping {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  using Parameters = std::array<double, 2>;

  /// W [J/m^3].
  static double energy_density(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p) {
    const Matrix D = rate(F, F_previous, dt);
    return dt * (p[0] * D.squaredNorm() + 0.5 * p[1] * D.trace() * D.trace());
  }

  /// P = dW/dF [Pa].
  static Matrix first_piola(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p) {
    return F * second_piola(F, F_previous, dt, p);
  }

  /// A = dP/dF: A_ijkl = d_ik S_lj + [phi F_ij F_kl + psi (F_il F_kj + (F F^T)_ik d_jl)]/dt. Symmetric.
  static void tangent(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p,
                      Tangent<dim>& A) {
    rate_tangent<dim>(F, F, p[0] / dt, p[1] / dt, A);
    const Matrix S = second_piola(F, F_previous, dt, p);
    for (int i = 0; i < dim; ++i) A.template block<dim, dim>(dim * i, dim * i) += S;
  }

  /// dP/dF_previous: -[phi F_ij F'_kl + psi (F_il F'_kj + (F F'^T)_ik d_jl)]/dt with F' = F_previous. Not
  /// symmetric.
  static void tangent_previous(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p,
                               Tangent<dim>& A) {
    rate_tangent<dim>(F, F_previous, -p[0] / dt, -p[1] / dt, A);
  }

  /// dP/dpsi = 2 F D, dP/dphi = tr(D) F.
  static std::array<Matrix, 2> stress_derivatives(const Matrix& F, const Matrix& F_previous, double dt,
                                                  const Parameters&) {
    const Matrix D = rate(F, F_previous, dt);
    return {2.0 * F * D, D.trace() * F};
  }

  /// Adds weight * d2W/du_a du_b to the blocks a <= b (element_hessian.hpp).
  template <class Gradients, class Hessian>
  static void add_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight, const Matrix& F,
                          const Matrix& F_previous, double dt, const Parameters& p, Hessian&& K) {
    const double psi = weight * p[0] / dt, phi = weight * p[1] / dt;
    const Matrix B = psi * (F * F.transpose());
    const NodeVectors<Gradients> f = gradients * F.transpose();
    const NodeVectors<Gradients> s = gradients * (weight * second_piola(F, F_previous, dt, p));
    add_upper_blocks(gradients.derived(), K, [&](Eigen::Index a, Eigen::Index b) {
      const double d = s.row(a).dot(gradients.row(b)), metric = gradients.row(a).dot(gradients.row(b));
      return [&, a, b, d, metric](int i, int k) {
        return phi * f(a, i) * f(b, k) + psi * f(b, i) * f(a, k) + metric * B(i, k) + (i == k ? d : 0.0);
      };
    });
  }

private:
  // F^T F - F'^T F' = 2 sym((F - F')^T (F + F')) / 2: small steps lose no digits.
  static Matrix rate(const Matrix& F, const Matrix& F_previous, double dt) {
    const Matrix product = (F - F_previous).transpose() * (F + F_previous);
    return (0.25 / dt) * (product + product.transpose());
  }

  static Matrix second_piola(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p) {
    return viscous_stress<dim>(rate(F, F_previous, dt), p[0], p[1]);
  }
};

} // namespace recoil::potentials
