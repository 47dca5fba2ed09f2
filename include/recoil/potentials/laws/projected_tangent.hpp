#pragma once

#include "recoil/geometry/psd_projection.hpp"
#include "recoil/potentials/laws/kinematics.hpp"

namespace recoil::potentials {

/// F = left diag(stretches) right^T with orthogonal matrices and positive stretches.
template <int dim>
struct PrincipalFrame {
  SquareMatrix<dim> left, right;
  Eigen::Matrix<double, dim, 1> stretches;
};

/// False, and `frame` is meaningless, where the smallest stretch is below 1e-5 of the largest: the matrices
/// come from F^T F and would not be orthogonal to rounding.
template <int dim>
bool find_principal_frame(const SquareMatrix<dim>& F, PrincipalFrame<dim>& frame);

/// Turns the tangent of an isotropic law at diag(stretches) into the nearest positive semi-definite one at F.
/// In its frame it consists of one block of size dim for the stretches and blocks of size 2 for pairs of
/// shears [Smith, de Goes, Kim 2019], so that no large eigenvalue problem is left.
template <int dim>
void project_principal_tangent(const PrincipalFrame<dim>& frame, Tangent<dim>& A);

/// The positive semi-definite matrix nearest to dP/dF in the Frobenius norm. Where dP/dF is positive definite
/// it is returned bit for bit. Out of line: inlined into the loops over elements it would slow down those
/// over exact tangents beside it, and their compilation.
template <class Law, int dim>
[[gnu::noinline]] void projected_tangent(const SquareMatrix<dim>& F,
                                         const typename Law::Parameters& parameters, Tangent<dim>& A) {
  Law::tangent(F, parameters, A);
  if constexpr (!Law::small_strain) {
    if (geometry::is_positive_definite(A)) return;
    PrincipalFrame<dim> frame;
    if (find_principal_frame(F, frame)) {
      Law::tangent(SquareMatrix<dim>(frame.stretches.asDiagonal()), parameters, A);
      project_principal_tangent(frame, A);
      return;
    }
  }
  geometry::project_psd(A);
}

} // namespace recoil::potentials
