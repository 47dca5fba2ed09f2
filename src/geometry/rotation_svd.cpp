#include "recoil/geometry/rotation_svd.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>
#include <Eigen/SVD>

namespace recoil::geometry {

namespace {

constexpr int twist_first[3] = {0, 0, 1};
constexpr int twist_second[3] = {1, 2, 2};

RotationSvd<2> decompose(const Eigen::Matrix2d& F) {
  // F = rotation part + reflection part: (p, q) and (r, s) have lengths (s1 + s2)/2 and (s1 - s2)/2.
  const double p = 0.5 * (F(0, 0) + F(1, 1)), q = 0.5 * (F(1, 0) - F(0, 1));
  const double r = 0.5 * (F(0, 0) - F(1, 1)), s = 0.5 * (F(1, 0) + F(0, 1));
  const double sum = std::hypot(p, q), difference = std::hypot(r, s);
  const double phi = std::atan2(q, p), psi = std::atan2(s, r);
  const double left = 0.5 * (phi + psi), right = 0.5 * (psi - phi);
  RotationSvd<2> svd;
  svd.sigma << sum + difference, sum - difference;
  svd.U << std::cos(left), -std::sin(left), std::sin(left), std::cos(left);
  svd.V << std::cos(right), -std::sin(right), std::sin(right), std::cos(right);
  return svd;
}

RotationSvd<3> decompose(const Eigen::Matrix3d& F) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> jacobi(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  RotationSvd<3> svd{jacobi.matrixU(), jacobi.matrixV(), jacobi.singularValues()};
  if (svd.U.determinant() < 0.0) {
    svd.U.col(2) *= -1.0;
    svd.sigma[2] *= -1.0;
  }
  if (svd.V.determinant() < 0.0) {
    svd.V.col(2) *= -1.0;
    svd.sigma[2] *= -1.0;
  }
  return svd;
}

} // namespace

template <int dim>
Eigen::Matrix<double, dim, dim> RotationSvd<dim>::twist(int twist) const {
  const int i = twist_first[twist], j = twist_second[twist];
  return std::sqrt(0.5) * (U.col(i) * V.col(j).transpose() - U.col(j) * V.col(i).transpose());
}

template <int dim>
double RotationSvd<dim>::twist_stiffness(int twist) const {
  const double sum = sigma[twist_first[twist]] + sigma[twist_second[twist]];
  // A tiny absolute floor keeps F = 0 finite.
  return 2.0 / std::max(sum, std::max(1e-12 * sigma[0], 1e-100));
}

template <int dim>
RotationSvd<dim> rotation_svd(const Eigen::Matrix<double, dim, dim>& F) {
  return decompose(F);
}

template struct RotationSvd<2>;
template struct RotationSvd<3>;
template RotationSvd<2> rotation_svd<2>(const Eigen::Matrix2d&);
template RotationSvd<3> rotation_svd<3>(const Eigen::Matrix3d&);

} // namespace recoil::geometry
