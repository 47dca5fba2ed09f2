#include "recoil/geometry/edge_edge_mollifier.hpp"

#include <Eigen/Geometry>

namespace recoil::geometry {

namespace {

using Vector3 = Eigen::Vector3d;

constexpr double relative_eps = 1e-3;

Vector3 first_edge(const StencilPoints<3>& z) { return z.col(1) - z.col(0); }
Vector3 second_edge(const StencilPoints<3>& z) { return z.col(3) - z.col(2); }

StencilVector<3> by_points(const Vector3& by_u, const Vector3& by_v) {
  StencilVector<3> gradient;
  gradient << -by_u, by_u, -by_v, by_v;
  return gradient;
}

} // namespace

double edge_edge_mollifier_eps(const StencilPoints<3>& rest) {
  return relative_eps * first_edge(rest).squaredNorm() * second_edge(rest).squaredNorm();
}

StencilVector<3> edge_edge_mollifier_eps_gradient(const StencilPoints<3>& rest) {
  const Vector3 U = first_edge(rest), V = second_edge(rest);
  return by_points(2.0 * relative_eps * V.squaredNorm() * U, 2.0 * relative_eps * U.squaredNorm() * V);
}

MollifierValue edge_edge_mollifier(const StencilPoints<3>& points, double eps) {
  const double x = edge_cross_squared(points);
  if (!(x < eps)) return {1.0, false};
  const double q = x / eps;
  return {(2.0 - q) * q, true};
}

MollifierScalars edge_edge_mollifier_scalars(double cross_squared, double eps) {
  if (!(cross_squared < eps)) return {1.0, 0.0, 0.0, 0.0, 0.0, false};
  const double q = cross_squared / eps;
  return {(2.0 - q) * q,
          2.0 * (1.0 - q) / eps,
          -2.0 / (eps * eps),
          -2.0 * q * (1.0 - q) / eps,
          (4.0 * q - 2.0) / (eps * eps),
          true};
}

double edge_cross_squared(const StencilPoints<3>& points) {
  return first_edge(points).cross(second_edge(points)).squaredNorm();
}

StencilVector<3> edge_cross_squared_gradient(const StencilPoints<3>& points) {
  const Vector3 u = first_edge(points), v = second_edge(points), w = u.cross(v);
  return by_points(2.0 * v.cross(w), 2.0 * w.cross(u));
}

StencilMatrix<3> edge_cross_squared_hessian(const StencilPoints<3>& points) {
  const Vector3 u = first_edge(points), v = second_edge(points);
  const Eigen::Matrix3d I = Eigen::Matrix3d::Identity();
  const Eigen::Matrix3d uu = 2.0 * (v.squaredNorm() * I - v * v.transpose());
  const Eigen::Matrix3d vv = 2.0 * (u.squaredNorm() * I - u * u.transpose());
  const Eigen::Matrix3d uv = 2.0 * (2.0 * u * v.transpose() - v * u.transpose() - u.dot(v) * I);
  StencilMatrix<3> hessian;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const double sign = (i % 2 == j % 2) ? 1.0 : -1.0;
      auto block = hessian.block<3, 3>(3 * i, 3 * j);
      if (i < 2)
        block = sign * (j < 2 ? uu : uv);
      else if (j < 2)
        block = sign * uv.transpose();
      else
        block = sign * vv;
    }
  return hessian;
}

} // namespace recoil::geometry
