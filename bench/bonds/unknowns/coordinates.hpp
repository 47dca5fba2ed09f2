#pragma once

#include <array>
#include <vector>

#include "bonds/unknowns/step_energy.hpp"
#include "recoil/geometry/quaternion.hpp"
#include "recoil/geometry/rotation_vector.hpp"

/// The unknowns z [m] in which a turn of a particle of radius r is written. Each kind has the number of
/// unknowns `turns`, a Chart at a quaternion q (dq = `by_turn` z to first order, and the second-order part of
/// the chain rule, sum_i g_i d2q_i / dz2) and what q becomes after z. All z are r times a rotation vector, to
/// first order and along the sphere.
namespace recoil::bench {

/// q exp(z / r) on the sphere: tangent vectors and geodesics, recoil's unknowns.
struct OnSphere {
  static constexpr int turns = 3;
  struct Chart {
    Eigen::Matrix<double, 4, 3> by_turn;
    geometry::Quaternion q;
    double radius;
    Eigen::Matrix3d curvature(const geometry::Quaternion& g) const {
      return -q.dot(g) / (4 * radius * radius) * Eigen::Matrix3d::Identity();
    }
  };
  void begin_step(const Points&) {}
  Chart chart(LocalIndex, const geometry::Quaternion& q, double radius) const {
    return {geometry::left_tangent(q).transpose() / (2 * radius), q, radius};
  }
  geometry::Quaternion moved(LocalIndex, const geometry::Quaternion& q, const Eigen::Vector3d& z,
                             double radius) const {
    return geometry::product(q, geometry::quaternion_exponential(z / radius)).normalized();
  }
};

/// The quaternion (f a, c) of a rotation vector a, with x = |a|^2, f = sin(|a| / 2) / |a|, c = cos(|a| / 2):
/// f and its first two derivatives by x. Series that converge fast up to |a| = 2 pi.
struct HalfSine {
  double f = 0, slope = 0, curvature = 0;
  explicit HalfSine(double x) {
    double term = 0.5;
    std::array<double, 16> coefficients{};
    for (int n = 0; n < 16; ++n) {
      coefficients[n] = term;
      term /= -4.0 * (2 * n + 2) * (2 * n + 3);
    }
    for (int n = 15; n >= 0; --n) {
      curvature = curvature * x + 2 * slope;
      slope = slope * x + f;
      f = f * x + coefficients[n];
    }
  }
};

/// q = reference exp(a), a <- a + z / r: rotation vectors that are added. References are the identity or the
/// orientations at the start of the step.
struct RotationVectors {
  static constexpr int turns = 3;
  bool from_start_of_step = false;
  Points start{};

  struct Chart {
    Eigen::Matrix<double, 4, 3> by_turn;
    geometry::Quaternion reference; ///< with the sign that leads to q
    Eigen::Vector3d a;
    double radius;
    Eigen::Matrix3d curvature(const geometry::Quaternion& g) const {
      const HalfSine s(a.squaredNorm());
      const geometry::Quaternion by_q = geometry::product(geometry::conjugate(reference), g);
      const Eigen::Vector3d v = by_q.head<3>();
      const Eigen::Matrix3d va = v * a.transpose(), aa = a * a.transpose(), I = Eigen::Matrix3d::Identity();
      return (2 * s.slope * (va + va.transpose() + v.dot(a) * I) + 4 * s.curvature * v.dot(a) * aa -
              by_q[3] * (0.5 * s.f * I + s.slope * aa)) /
             (radius * radius);
    }
  };
  void begin_step(const Points& from) { start = from; }
  geometry::Quaternion reference(LocalIndex particle) const {
    if (!from_start_of_step) return geometry::identity_quaternion();
    return geometry::Quaternion(start.data() + 7 * std::size_t(particle) + 3);
  }
  Chart chart(LocalIndex particle, const geometry::Quaternion& q, double radius) const {
    const geometry::Quaternion from = reference(particle),
                               relative = geometry::product(geometry::conjugate(from), q);
    Chart chart{{},
                relative[3] < 0 ? geometry::Quaternion(-from) : from,
                geometry::quaternion_logarithm(relative),
                radius};
    const HalfSine s(chart.a.squaredNorm());
    Eigen::Matrix<double, 4, 3> by_a;
    by_a << s.f * Eigen::Matrix3d::Identity() + 2 * s.slope * chart.a * chart.a.transpose(),
        -0.5 * s.f * chart.a.transpose();
    for (int i = 0; i < 3; ++i)
      chart.by_turn.col(i) = geometry::product(chart.reference, by_a.col(i)) / radius;
    return chart;
  }
  geometry::Quaternion moved(LocalIndex particle, const geometry::Quaternion& q, const Eigen::Vector3d& z,
                             double radius) const {
    const geometry::Quaternion from = reference(particle);
    const Eigen::Vector3d a = geometry::quaternion_logarithm(geometry::product(geometry::conjugate(from), q));
    return geometry::product(from, geometry::quaternion_exponential(a + z / radius)).normalized();
  }
};

/// q + z / (2 r): quaternions of any length.
struct Quaternions {
  static constexpr int turns = 4;
  struct Chart {
    Eigen::Matrix4d by_turn;
    Eigen::Matrix4d curvature(const geometry::Quaternion&) const { return Eigen::Matrix4d::Zero(); }
  };
  void begin_step(const Points&) {}
  Chart chart(LocalIndex, const geometry::Quaternion&, double radius) const {
    return {Eigen::Matrix4d::Identity() / (2 * radius)};
  }
  geometry::Quaternion moved(LocalIndex, const geometry::Quaternion& q, const Eigen::Vector4d& z,
                             double radius) const {
    return q + z / (2 * radius);
  }
};

} // namespace recoil::bench
