#pragma once

#include <array>
#include <string_view>

#include "recoil/potentials/laws/kinematics.hpp"
#include "recoil/potentials/laws/viscous_stress.hpp"

namespace recoil::potentials {

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
