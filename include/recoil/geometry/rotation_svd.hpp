#pragma once

#include <Eigen/Core>

namespace recoil::geometry {

/// Rotation-variant singular value decomposition F = U diag(sigma) V^T with det U = det V = 1
/// [Irving, Teran, Fedkiw 2004]: |sigma| descends, and the last one carries the sign of det F.
template <int dim>
struct RotationSvd {
  Eigen::Matrix<double, dim, dim> U, V;
  Eigen::Matrix<double, dim, 1> sigma;

  /// The rotation R = U V^T of the polar decomposition F = R S; det R = 1 also for inverted F.
  Eigen::Matrix<double, dim, dim> rotation() const { return U * V.transpose(); }

  static constexpr int num_twists = dim * (dim - 1) / 2;
  /// Twist mode U (e_i e_j^T - e_j e_i^T) V^T / sqrt(2) of the pair number `twist`: (0,1), (0,2), (1,2).
  Eigen::Matrix<double, dim, dim> twist(int twist) const;
  /// dR : H = sum_t twist_stiffness(t) (T_t : H) T_t with T_t = twist(t); 2 / (sigma_i + sigma_j). The sum is
  /// bounded below by 1e-12 of the largest singular value: R has no derivative where it vanishes.
  double twist_stiffness(int twist) const;
};

/// Decomposes any finite F, singular and inverted ones included. No heap use.
template <int dim>
RotationSvd<dim> rotation_svd(const Eigen::Matrix<double, dim, dim>& F);

} // namespace recoil::geometry
