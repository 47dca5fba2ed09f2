#pragma once

#include <array>

#include "recoil/geometry/rotation_vector.hpp"

/// How far two bodies have turned against each other since a start: the rotation vector a with exp([a]_x) =
/// B' A, where A = R_a R_a0' and B = R_b R_b0' are the turns of each in space. To first order that is the
/// difference of their rotation vectors. Turns of both together leave it as it is, so that moments of
/// functions of it are equal and opposite; with the bodies swapped it is -a.
namespace recoil::geometry {

struct RelativeTurn {
  Eigen::Vector3d angle; ///< a, the shortest [rad]
  /// Derivatives of the turn by turns of the two bodies about their own axes: J_r(a)^-1 R_a0 and -J_r(a)^-T
  /// R_b0.
  std::array<Eigen::Matrix3d, 2> by_turn;
};

/// The relative turn of two bodies with the orientations `now`, which were `start`.
inline RelativeTurn relative_turn(const std::array<Quaternion, 2>& now,
                                  const std::array<Quaternion, 2>& start) {
  const Quaternion A = product(now[0], conjugate(start[0])), B = product(now[1], conjugate(start[1]));
  const Eigen::Vector3d angle = quaternion_logarithm(product(conjugate(B), A));
  const Eigen::Matrix3d J = inverse_right_jacobian(angle);
  return {angle, {J * rotation_matrix(start[0]), -J.transpose() * rotation_matrix(start[1])}};
}

/// The second derivative of b . a by the turns of the two bodies about their own axes, along geodesics; a as
/// of relative_turn(). Symmetric.
inline Eigen::Matrix<double, 6, 6> relative_turn_curvature(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                                           const std::array<Quaternion, 2>& start) {
  const Eigen::Matrix3d J = inverse_right_jacobian(a), D = derivative_of_inverse_transposed(a, b),
                        first = D * J, second = derivative_of_inverse_transposed(-a, -b) * J.transpose(),
                        R_a = rotation_matrix(start[0]), R_b = rotation_matrix(start[1]);
  Eigen::Matrix<double, 6, 6> H;
  H.topLeftCorner<3, 3>() = R_a.transpose() * (first + first.transpose()) / 2 * R_a;
  H.bottomRightCorner<3, 3>() = R_b.transpose() * (second + second.transpose()) / 2 * R_b;
  H.topRightCorner<3, 3>() = -R_a.transpose() * D * J.transpose() * R_b;
  H.bottomLeftCorner<3, 3>() = H.topRightCorner<3, 3>().transpose();
  return H;
}

} // namespace recoil::geometry
