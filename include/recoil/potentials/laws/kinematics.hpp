#pragma once

#include <cmath>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace recoil::potentials {

template <int dim>
using SquareMatrix = Eigen::Matrix<double, dim, dim>;
/// Fourth-order tensor A_ijkl = dP_ij / dF_kl at [dim * i + j, dim * k + l].
template <int dim>
using Tangent = Eigen::Matrix<double, dim * dim, dim * dim>;

/// cof F = det(F) F^-T, without a division.
template <int dim>
SquareMatrix<dim> cofactor(const SquareMatrix<dim>& F) {
  SquareMatrix<dim> C;
  if constexpr (dim == 2) {
    C << F(1, 1), -F(1, 0), -F(0, 1), F(0, 0);
  } else {
    C.col(0) = F.col(1).cross(F.col(2));
    C.col(1) = F.col(2).cross(F.col(0));
    C.col(2) = F.col(0).cross(F.col(1));
  }
  return C;
}

/// det F from its cofactor matrix, with a small relative error also near inversion.
template <int dim>
double determinant(const SquareMatrix<dim>& F, const SquareMatrix<dim>& cof) {
  return F.col(0).dot(cof.col(0));
}

/// det(I + H) - 1 - tr H: the terms of second and third order.
template <int dim>
double determinant_higher_order(const SquareMatrix<dim>& H) {
  if constexpr (dim == 2) {
    return H(0, 0) * H(1, 1) - H(0, 1) * H(1, 0);
  } else {
    const double second = H(0, 0) * H(1, 1) - H(0, 1) * H(1, 0) + H(0, 0) * H(2, 2) - H(0, 2) * H(2, 0) +
                          H(1, 1) * H(2, 2) - H(1, 2) * H(2, 1);
    return second + H.col(0).dot(H.col(1).cross(H.col(2)));
  }
}

/// det(F) - 1 with an error relative to |F - I|: needed where strains are small.
template <int dim>
double determinant_excess(const SquareMatrix<dim>& F) {
  const SquareMatrix<dim> H = F - SquareMatrix<dim>::Identity();
  return H.trace() + determinant_higher_order<dim>(H);
}

/// ln(1 + x) by the logarithm and the rounding error of 1 + x: as exact as std::log1p and much faster.
inline double log_one_plus(double x) {
  const double sum = 1.0 + x;
  return std::log(sum) + (x - (sum - 1.0)) / sum;
}

/// ln det F for det F > 0, accurate both near 1 and near 0.
template <int dim>
double log_determinant(const SquareMatrix<dim>& F, double J) {
  return std::abs(J - 1.0) < 0.25 ? log_one_plus(determinant_excess<dim>(F)) : std::log(J);
}

/// x - ln(1 + x) without cancellation for small x.
inline double excess_over_log(double x) {
  if (std::abs(x) > 0.1) return x - log_one_plus(x);
  // ln(1 + x) = 2 artanh(r), r = x / (2 + x); the series runs to r^15 <= 1e-19.
  const double r = x / (2.0 + x), s = r * r;
  double series = 1.0 / 15.0;
  for (int k = 13; k >= 3; k -= 2) series = series * s + 1.0 / k;
  return r * (x - 2.0 * s * series);
}

/// Green strain E = (F^T F - I) / 2, formed from F - I.
template <int dim>
SquareMatrix<dim> green_strain(const SquareMatrix<dim>& F) {
  const SquareMatrix<dim> H = F - SquareMatrix<dim>::Identity();
  return 0.5 * (H + H.transpose() + H.transpose() * H);
}

/// What the laws with ln J share: J = det F, ln J and Q = F^-T. Meaningful for J > 0 only.
template <int dim>
struct LogKinematics {
  explicit LogKinematics(const SquareMatrix<dim>& F) : Q(cofactor<dim>(F)) {
    J = determinant<dim>(F, Q);
    log_J = log_determinant<dim>(F, J);
    Q /= J;
  }
  double J, log_J;
  SquareMatrix<dim> Q;
};

} // namespace recoil::potentials
