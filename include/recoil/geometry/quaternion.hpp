#pragma once

#include <cmath>

#include <Eigen/Core>
#include <Eigen/Geometry>

/// Rotations as quaternions (u, v, w, s), vector part first. Only unit quaternions are rotations; q and -q
/// are the same one. A change dq = G_l(q)' y of a unit quaternion turns the body by 2 y about its own axes.
namespace recoil::geometry {

using Quaternion = Eigen::Vector4d;

inline Quaternion identity_quaternion() { return Quaternion::Unit(3); }

inline Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& a) {
  Eigen::Matrix3d A;
  A << 0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0;
  return A;
}

/// q p.
inline Quaternion product(const Quaternion& q, const Quaternion& p) {
  const Eigen::Vector3d a = q.head<3>(), b = p.head<3>();
  Quaternion result;
  result << q[3] * b + p[3] * a + a.cross(b), q[3] * p[3] - a.dot(b);
  return result;
}

inline Quaternion conjugate(const Quaternion& q) { return {-q[0], -q[1], -q[2], q[3]}; }

/// G_l(q) = (s I - [t]_x, -t): G_l(q) p is the vector part of q* p. Rows orthogonal to q, orthonormal where q
/// is a unit.
inline Eigen::Matrix<double, 3, 4> left_tangent(const Quaternion& q) {
  Eigen::Matrix<double, 3, 4> G;
  G << q[3], q[2], -q[1], -q[0], -q[2], q[3], q[0], -q[1], q[1], -q[0], q[3], -q[2];
  return G;
}

/// G_r(q) = (s I + [t]_x, -t): G_r(q) p is the vector part of p q*.
inline Eigen::Matrix<double, 3, 4> right_tangent(const Quaternion& q) {
  Eigen::Matrix<double, 3, 4> G;
  G << q[3], -q[2], q[1], -q[0], q[2], q[3], -q[0], -q[1], -q[1], q[0], q[3], -q[2];
  return G;
}

/// R(q) = G_r(q) G_l(q)' of a unit quaternion.
inline Eigen::Matrix3d rotation_matrix(const Quaternion& q) {
  return right_tangent(q) * left_tangent(q).transpose();
}

/// The rotation by |a| about a [rad].
inline Quaternion quaternion_exponential(const Eigen::Vector3d& a) {
  const double half = a.norm() / 2;
  // sin(x) / x in double precision.
  const double share = half < 1e-4 ? 1 - half * half / 6 : std::sin(half) / half;
  Quaternion q;
  q << 0.5 * share * a, std::cos(half);
  return q;
}

/// The shortest rotation vector [rad] of a unit quaternion, of length at most pi.
inline Eigen::Vector3d quaternion_logarithm(const Quaternion& q) {
  const Eigen::Vector3d t = q[3] < 0 ? Eigen::Vector3d(-q.head<3>()) : Eigen::Vector3d(q.head<3>());
  const double sine = t.norm(), cosine = std::abs(q[3]);
  if (sine < 1e-6) return (2 + sine * sine / 3) * t;
  return 2 * std::atan2(sine, cosine) / sine * t;
}

} // namespace recoil::geometry
