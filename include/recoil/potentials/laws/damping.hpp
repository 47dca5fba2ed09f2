#pragma once

#include <array>

#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::potentials {

/// S = 2 psi D + phi tr(D) I of a strain rate D.
template <int dim>
SquareMatrix<dim> viscous_stress(const SquareMatrix<dim>& D, double psi, double phi) {
  return 2.0 * psi * D + phi * D.trace() * SquareMatrix<dim>::Identity();
}

/// What a viscous stress G (2 psi D + phi tr(D) I) changes by through its rate, where dD = sym(H^T dF):
/// A_ijkl = phi G_ij H_kl + psi (G_il H_kj + (G H^T)_ik d_jl).
template <int dim>
void rate_tangent(const SquareMatrix<dim>& G, const SquareMatrix<dim>& H, double psi, double phi,
                  Tangent<dim>& A) {
  const SquareMatrix<dim> B = psi * (G * H.transpose());
  for (int l = 0; l < dim; ++l)
    for (int k = 0; k < dim; ++k)
      for (int j = 0; j < dim; ++j)
        for (int i = 0; i < dim; ++i)
          A(dim * i + j, dim * k + l) =
              phi * (G(i, j) * H(k, l)) + psi * (G(i, l) * H(k, j)) + (j == l ? B(i, k) : 0.0);
}

/// Strain-rate proportional damping over one step, from the difference of Green strains so that it has a
/// potential in the strain rate: D = (E(F) - E(F_previous))/dt, S = 2 psi D + phi tr(D) I, P = F S = dW/dF
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

/// Viscous damping as PolyFEM has it: the strain rate belongs to the end of the step, D = sym(Fdot^T F) with
/// Fdot = (F - F_previous)/dt, and the potential is the dissipated power instead of a dissipated energy,
///
///     W = psi D:D + phi/2 tr(D)^2,    P = dW/dF = (2 F - F_previous)/dt (2 psi D + phi tr(D) I).
///
/// psi and phi act like viscosities [Pa s] divided by dt [s], and P holds the derivative of the rate too: in
/// small steps it is that of StrainRateDamping with psi/dt and phi/dt.
template <int dim>
struct EndpointRateDamping {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  using Parameters = std::array<double, 2>;

  /// W.
  static double energy_density(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p) {
    const Matrix D = rate(F, F_previous, dt);
    return p[0] * D.squaredNorm() + 0.5 * p[1] * D.trace() * D.trace();
  }

  /// P = dW/dF.
  static Matrix first_piola(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p) {
    return direction(F, F_previous, dt) * second_piola(F, F_previous, dt, p);
  }

  /// A = dP/dF. Symmetric.
  static void tangent(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p,
                      Tangent<dim>& A) {
    const Matrix G = direction(F, F_previous, dt);
    rate_tangent<dim>(G, G, p[0], p[1], A);
    add_to_diagonal(2 / dt * second_piola(F, F_previous, dt, p), A);
  }

  /// dP/dF_previous. Not symmetric.
  static void tangent_previous(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p,
                               Tangent<dim>& A) {
    rate_tangent<dim>(direction(F, F_previous, dt), F, -p[0] / dt, -p[1] / dt, A);
    add_to_diagonal(-1 / dt * second_piola(F, F_previous, dt, p), A);
  }

  /// dP/dpsi and dP/dphi.
  static std::array<Matrix, 2> stress_derivatives(const Matrix& F, const Matrix& F_previous, double dt,
                                                  const Parameters&) {
    const Matrix D = rate(F, F_previous, dt), G = direction(F, F_previous, dt);
    return {2.0 * G * D, D.trace() * G};
  }

private:
  static Matrix rate(const Matrix& F, const Matrix& F_previous, double dt) {
    const Matrix product = (F - F_previous).transpose() * F;
    return (0.5 / dt) * (product + product.transpose());
  }

  // G with dD = sym(G^T dF).
  static Matrix direction(const Matrix& F, const Matrix& F_previous, double dt) {
    return (2 * F - F_previous) / dt;
  }

  static Matrix second_piola(const Matrix& F, const Matrix& F_previous, double dt, const Parameters& p) {
    return viscous_stress<dim>(rate(F, F_previous, dt), p[0], p[1]);
  }

  // Adds dF S for a symmetric S.
  static void add_to_diagonal(const Matrix& S, Tangent<dim>& A) {
    for (int i = 0; i < dim; ++i) A.template block<dim, dim>(dim * i, dim * i) += S;
  }
};

} // namespace recoil::potentials
