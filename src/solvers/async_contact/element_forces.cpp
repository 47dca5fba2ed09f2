#include "recoil/solvers/async_contact/element_forces.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "recoil/surface/shape.hpp"

namespace recoil::solvers::async_contact {

namespace {

using Matrix32 = Eigen::Matrix<double, 3, 2>;

Matrix32 edges(const Points<3>& x) {
  Matrix32 result;
  result << x.col(1) - x.col(0), x.col(2) - x.col(0);
  return result;
}

/// Stress of unit stiffness: ((1 - nu) e + nu tr(e) I) / (1 - nu^2).
Eigen::Matrix2d unit_stress(const Eigen::Matrix2d& strain, double poisson) {
  return ((1 - poisson) * strain + poisson * strain.trace() * Eigen::Matrix2d::Identity()) /
         (1 - poisson * poisson);
}

/// Forces of a stress P (per rest area) on the vertices.
Points<3> spread(const Membrane& membrane, const Matrix32& stress) {
  const Matrix32 part = membrane.area * stress * membrane.inverse_rest.transpose();
  Points<3> result;
  result << -part.col(0) - part.col(1), part;
  return result;
}

Eigen::Matrix2d strain_of(const Matrix32& F) {
  return 0.5 * (F.transpose() * F - Eigen::Matrix2d::Identity());
}

} // namespace

Membrane make_membrane(const std::array<LocalIndex, 3>& vertices, const Points<3>& rest, double stiffness,
                       double poisson) {
  const Matrix32 e = edges(rest);
  const Eigen::Vector3d first = e.col(0).normalized();
  const Eigen::Vector3d second = (e.col(1) - first.dot(e.col(1)) * first).normalized();
  Eigen::Matrix2d plane;
  plane << first.dot(e.col(0)), first.dot(e.col(1)), 0, second.dot(e.col(1));
  return {.vertices = vertices,
          .inverse_rest = plane.inverse(),
          .area = 0.5 * plane.determinant(),
          .stiffness = stiffness,
          .poisson = poisson};
}

double energy(const Membrane& membrane, const Points<3>& x) {
  const Eigen::Matrix2d strain = strain_of(edges(x) * membrane.inverse_rest);
  const double trace = strain.trace(), nu = membrane.poisson;
  return membrane.area * membrane.stiffness / (2 * (1 - nu * nu)) *
         ((1 - nu) * strain.squaredNorm() + nu * trace * trace);
}

Points<3> gradient(const Membrane& membrane, const Points<3>& x, double* trace) {
  const Matrix32 F = edges(x) * membrane.inverse_rest;
  const Eigen::Matrix2d strain = strain_of(F);
  if (trace) *trace = strain.trace();
  return spread(membrane, membrane.stiffness * (F * unit_stress(strain, membrane.poisson)));
}

Eigen::Matrix2d strain(const Membrane& membrane, const Points<3>& x) {
  return strain_of(edges(x) * membrane.inverse_rest);
}

Points<3> damping_gradient(const Membrane& membrane, const Points<3>& x, const Eigen::Matrix2d& strain_rate) {
  const Matrix32 F = edges(x) * membrane.inverse_rest;
  return spread(membrane, membrane.damping * (F * unit_stress(strain_rate, membrane.poisson)));
}

double squared_frequency(const Membrane& membrane, double least_mass) {
  Matrix32 G;
  G << -membrane.inverse_rest.colwise().sum(), membrane.inverse_rest;
  const Eigen::Matrix2d S = G.transpose() * G;
  const double mean = 0.5 * S.trace(),
               greatest = mean + std::sqrt(std::max(0.0, mean * mean - S.determinant()));
  return membrane.area * membrane.stiffness / (1 - membrane.poisson) * greatest / least_mass;
}

BendingHinge make_hinge(const std::array<LocalIndex, 4>& vertices, const Points<4>& rest,
                        double bending_stiffness) {
  const Eigen::Vector3d e = rest.col(1) - rest.col(0);
  const double areas =
      0.5 * (e.cross(rest.col(2) - rest.col(0)).norm() + e.cross(rest.col(3) - rest.col(0)).norm());
  return {.vertices = vertices,
          .coefficient = 3 * bending_stiffness * e.squaredNorm() / areas,
          .rest_angle = surface::fold_angle(rest),
          .yield_angle = std::numeric_limits<double>::infinity()};
}

Points<4> angle_gradient(const Points<4>& x, double* angle) {
  const Eigen::Vector3d e = x.col(1) - x.col(0), a = x.col(2) - x.col(0), b = x.col(3) - x.col(0);
  const Eigen::Vector3d n1 = e.cross(a), n2 = b.cross(e);
  const double length_squared = e.squaredNorm(), length = std::sqrt(length_squared);
  // surface::fold_angle, with (n2 x n1) . e = (b . n1) |e|^2.
  if (angle) *angle = std::atan2(length * b.dot(n1), n1.dot(n2));
  const double foot_a = a.dot(e) / length_squared, foot_b = b.dot(e) / length_squared;
  Points<4> result;
  result.col(2) = length / n1.squaredNorm() * n1;
  result.col(3) = length / n2.squaredNorm() * n2;
  result.col(0) = (foot_a - 1) * result.col(2) + (foot_b - 1) * result.col(3);
  result.col(1) = -foot_a * result.col(2) - foot_b * result.col(3);
  return result;
}

double energy(const BendingHinge& hinge, const Points<4>& x) {
  const double bend = surface::fold_angle(x) - hinge.rest_angle;
  return hinge.coefficient * bend * bend;
}

Points<4> gradient(const BendingHinge& hinge, const Points<4>& x) {
  return 2 * hinge.coefficient * (surface::fold_angle(x) - hinge.rest_angle) * angle_gradient(x);
}

double squared_frequency(const BendingHinge& hinge, const Points<4>& rest,
                         const Eigen::Vector4d& inverse_masses) {
  return 2 * hinge.coefficient * angle_gradient(rest).colwise().squaredNorm().dot(inverse_masses);
}

double energy(const Spring& spring, const Points<2>& x) {
  const double stretch = (x.col(1) - x.col(0)).norm() - spring.length;
  return 0.5 * spring.stiffness * stretch * stretch;
}

Points<2> gradient(const Spring& spring, const Points<2>& x) {
  const Eigen::Vector3d e = x.col(1) - x.col(0);
  const double length = e.norm();
  const double slack =
      spring.length > 0 ? spring.length / length : 0; // without rest length the force is linear
  const Eigen::Vector3d force = spring.stiffness * (1 - slack) * e;
  Points<2> result;
  result << -force, force;
  return result;
}

} // namespace recoil::solvers::async_contact
