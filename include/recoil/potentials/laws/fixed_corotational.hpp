#pragma once

#include "recoil/geometry/rotation_svd.hpp"
#include "recoil/potentials/laws/law.hpp"

namespace recoil::potentials {

/// Fixed corotational solid W = mu |F - R|^2 + lambda/2 (J - 1)^2, R the polar rotation of F
/// [Stomakhin et al. 2012]. R comes from the rotation-variant SVD, so energy, stress and tangent are finite
/// for inverted F too; R has no derivative where the two singular values smallest in magnitude sum to zero.
template <int dim>
struct FixedCorotational {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  static constexpr std::string_view name = "FixedCorotational";
  static constexpr const auto& constants = lame_constants;
  using Parameters = std::array<double, 2>;
  static constexpr bool resists_inversion = false;
  static constexpr bool small_strain = false;

  static double energy_density(const Matrix& F, const Parameters& p) {
    const double excess = determinant_excess<dim>(F);
    return p[1] * (F - geometry::rotation_svd<dim>(F).rotation()).squaredNorm() +
           0.5 * p[0] * excess * excess;
  }

  static Matrix first_piola(const Matrix& F, const Parameters& p) {
    return 2.0 * p[1] * (F - geometry::rotation_svd<dim>(F).rotation()) +
           p[0] * determinant_excess<dim>(F) * cofactor<dim>(F);
  }

  static void tangent(const Matrix& F, const Parameters& p, Tangent<dim>& A) {
    using Flat = Eigen::Matrix<double, dim * dim, 1>;
    const auto [lambda, mu] = p;
    const Matrix cof = cofactor<dim>(F);
    const Flat c = Matrix(cof.transpose()).reshaped();
    A.noalias() = lambda * c * c.transpose();
    A.diagonal().array() += 2.0 * mu;
    const geometry::RotationSvd<dim> svd = geometry::rotation_svd<dim>(F);
    for (int t = 0; t < svd.num_twists; ++t) {
      const Flat twist = Matrix(svd.twist(t).transpose()).reshaped();
      A.noalias() -= (2.0 * mu * svd.twist_stiffness(t)) * twist * twist.transpose();
    }
    add_cofactor_derivative(F, lambda * determinant_excess<dim>(F), A);
  }

  static std::array<Matrix, 2> stress_derivatives(const Matrix& F, const Parameters&) {
    return {determinant_excess<dim>(F) * cofactor<dim>(F),
            2.0 * (F - geometry::rotation_svd<dim>(F).rotation())};
  }

  /// K_ab = weight [2 mu (g_a.g_b I - sum_t k_t (T_t g_a)(T_t g_b)^T) + lambda c_a c_b^T + lambda (J - 1)
  /// D_ab], with the twist modes T_t of R, c = cof(F) g, and D_ab the contracted derivative of cof F.
  template <class Gradients, class Hessian>
  static void add_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight, const Matrix& F,
                          const Parameters& p, Hessian&& K) {
    const double lambda = weight * p[0], mu = 2.0 * weight * p[1];
    const double pressure = lambda * determinant_excess<dim>(F);
    const NodeVectors<Gradients> c = gradients * cofactor<dim>(F).transpose();
    const geometry::RotationSvd<dim> svd = geometry::rotation_svd<dim>(F);
    std::array<NodeVectors<Gradients>, svd.num_twists> twists;
    std::array<double, svd.num_twists> stiffness;
    for (int t = 0; t < svd.num_twists; ++t) {
      twists[t] = gradients * svd.twist(t).transpose();
      stiffness[t] = mu * svd.twist_stiffness(t);
    }
    add_upper_blocks(gradients.derived(), K, [&](Eigen::Index a, Eigen::Index b) {
      const double d = mu * gradients.row(a).dot(gradients.row(b));
      const Matrix D = contracted_cofactor_derivative(F, pressure, gradients.row(a), gradients.row(b));
      return [&, a, b, d, D](int i, int k) {
        double value = D(i, k) + lambda * c(a, i) * c(b, k) + (i == k ? d : 0.0);
        for (std::size_t t = 0; t < twists.size(); ++t)
          value -= stiffness[t] * twists[t](a, i) * twists[t](b, k);
        return value;
      };
    });
  }

private:
  // d cof_ij / d F_kl: e_ik e_jl in 2D, e_ikm e_jln F_mn in 3D.
  static void add_cofactor_derivative(const Matrix& F, double factor, Tangent<dim>& A) {
    if constexpr (dim == 2) {
      A(0, 3) += factor;
      A(3, 0) += factor;
      A(1, 2) -= factor;
      A(2, 1) -= factor;
    } else {
      for (int m = 0; m < 3; ++m)
        for (int n = 0; n < 3; ++n) {
          const int i = (m + 1) % 3, k = (m + 2) % 3, j = (n + 1) % 3, l = (n + 2) % 3;
          const double value = factor * F(m, n);
          A(3 * i + j, 3 * k + l) += value;
          A(3 * k + l, 3 * i + j) += value;
          A(3 * i + l, 3 * k + j) -= value;
          A(3 * k + j, 3 * i + l) -= value;
        }
    }
  }

  template <class RowA, class RowB>
  static Matrix contracted_cofactor_derivative(const Matrix& F, double factor, const RowA& g_a,
                                               const RowB& g_b) {
    Matrix D;
    if constexpr (dim == 2) {
      const double s = factor * (g_a[0] * g_b[1] - g_a[1] * g_b[0]);
      D << 0.0, s, -s, 0.0;
    } else {
      const Eigen::Vector3d w =
          factor * (F * Eigen::Vector3d(g_a[1] * g_b[2] - g_a[2] * g_b[1], g_a[2] * g_b[0] - g_a[0] * g_b[2],
                                        g_a[0] * g_b[1] - g_a[1] * g_b[0]));
      D << 0.0, w[2], -w[1], -w[2], 0.0, w[0], w[1], -w[0], 0.0;
    }
    return D;
  }
};

} // namespace recoil::potentials
