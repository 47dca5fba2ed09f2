#pragma once

#include <Eigen/Core>

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

} // namespace recoil::geometry
