#pragma once

#include <cmath>

#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::potentials {

/// Cauchy stress P F^T / det F [Pa]. For laws of linear theory (`small_strain`) P itself is the stress: use
/// cauchy_stress<Law>.
template <int dim>
SquareMatrix<dim> cauchy_stress(const SquareMatrix<dim>& F, const SquareMatrix<dim>& P) {
  return P * F.transpose() / determinant<dim>(F, cofactor<dim>(F));
}

/// Cauchy stress of a law at F.
template <class Law>
typename Law::Matrix cauchy_stress(const typename Law::Matrix& F, const typename Law::Parameters& p) {
  if constexpr (Law::small_strain)
    return Law::first_piola(F, p);
  else
    return cauchy_stress<Law::dimension>(F, Law::first_piola(F, p));
}

/// Von Mises equivalent stress sqrt(3/2 dev(s):dev(s)) of a symmetric Cauchy stress [Pa]. In 2D from the
/// in-plane tensor alone, out-of-plane stress taken as zero: sqrt(s11^2 - s11 s22 + s22^2 + 3 s12^2).
template <int dim>
double von_mises(const SquareMatrix<dim>& s) {
  if constexpr (dim == 2) {
    const double shear = 0.5 * (s(0, 1) + s(1, 0)), difference = s(0, 0) - s(1, 1);
    return std::sqrt(difference * difference + s(0, 0) * s(1, 1) + 3.0 * shear * shear);
  } else {
    const double a = s(0, 0) - s(1, 1), b = s(1, 1) - s(2, 2), c = s(2, 2) - s(0, 0);
    const double xy = 0.5 * (s(0, 1) + s(1, 0)), yz = 0.5 * (s(1, 2) + s(2, 1)),
                 zx = 0.5 * (s(2, 0) + s(0, 2));
    return std::sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (xy * xy + yz * yz + zx * zx));
  }
}

} // namespace recoil::potentials
