#pragma once

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

} // namespace recoil::potentials
