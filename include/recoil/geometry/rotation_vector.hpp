#pragma once

#include <cmath>

#include "recoil/geometry/quaternion.hpp"

/// Derivatives of rotations R(a) = exp([a]_x) by their rotation vectors a [rad], with t = |a|. A change of a
/// by da turns the body by J_r(a) da about its own axes, and by J_r(a)' da about those in space [Chirikjian,
/// Stochastic Models, Information Theory, and Lie Groups 2, section 10.7].
namespace recoil::geometry {

/// J_r(a) = I - (1 - cos t) / t^2 [a]_x + (t - sin t) / t^3 [a]_x^2.
inline Eigen::Matrix3d right_jacobian(const Eigen::Vector3d& a) {
  const double square = a.squaredNorm(), t = std::sqrt(square), half = std::sin(t / 2);
  const bool small = t < 0.1;
  const double first = small ? 0.5 - square / 24 * (1 - square / 30 * (1 - square / 56))
                             : 2 * half * half / square,
               second = small ? (1 - square / 20 * (1 - square / 42 * (1 - square / 72))) / 6
                              : (t - std::sin(t)) / (square * t);
  const Eigen::Matrix3d A = cross_matrix(a);
  return Eigen::Matrix3d::Identity() - first * A + second * A * A;
}

/// c = 1 / t^2 - cot(t / 2) / (2 t), and dc/dt / t.
struct InverseJacobianCoefficient {
  double value, slope;
  explicit InverseJacobianCoefficient(double t) {
    const double square = t * t;
    if (t < 0.4) {
      // Bernoulli numbers |B_2n| / (2n)!.
      constexpr double b[]{1.0 / 12,         1.0 / 720,      1.0 / 30240,
                           1.0 / 1209600,    1.0 / 47900160, 691 / 1307674368000.0,
                           1 / 74724249600.0};
      value = slope = 0;
      for (int n = 6; n >= 0; --n) value = value * square + b[n];
      for (int n = 6; n >= 1; --n) slope = slope * square + 2 * n * b[n];
    } else {
      const double half = std::tan(t / 2), sine = std::sin(t / 2);
      value = 1 / square - 1 / (2 * t * half);
      slope = (-2 / square + 1 / (2 * t * half) + 1 / (4 * sine * sine)) / square;
    }
  }
};

/// J_r(a)^-1 = I + [a]_x / 2 + c [a]_x^2. @pre t < 2 pi.
inline Eigen::Matrix3d inverse_right_jacobian(const Eigen::Vector3d& a) {
  const Eigen::Matrix3d A = cross_matrix(a);
  return Eigen::Matrix3d::Identity() + A / 2 + InverseJacobianCoefficient(a.norm()).value * A * A;
}

/// The derivative of J_r(a)^-T b by a.
inline Eigen::Matrix3d derivative_of_inverse_transposed(const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
  const InverseJacobianCoefficient c(a.norm());
  const Eigen::Vector3d across = a.cross(b);
  return cross_matrix(b) / 2 + c.slope * a.cross(across) * a.transpose() -
         c.value * (cross_matrix(across) + cross_matrix(a) * cross_matrix(b));
}

} // namespace recoil::geometry
