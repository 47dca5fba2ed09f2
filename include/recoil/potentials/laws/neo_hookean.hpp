#pragma once

#include "recoil/potentials/laws/law.hpp"

namespace recoil::potentials {

/// Compressible Neo-Hookean solid W = mu/2 (F:F - d - 2 ln J) + lambda/2 (ln J)^2 [Bonet and
/// Wood 2008, eq. 6.27].
template <int dim>
struct NeoHookean {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  static constexpr std::string_view name = "NeoHookean";
  static constexpr const auto& constants = lame_constants;
  using Parameters = std::array<double, 2>;
  static constexpr bool resists_inversion = true;
  static constexpr bool small_strain = false;

  static double energy_density(const Matrix& F, const Parameters& p) {
    const double J = determinant<dim>(F, cofactor<dim>(F));
    if (!(J > 0.0)) return std::numeric_limits<double>::infinity();
    const auto [lambda, mu] = p;
    if (std::abs(J - 1.0) < 0.25) {
      // (F:F - d)/2 - ln J in terms of second order in H: no cancellation at small strain.
      const Matrix H = F - Matrix::Identity();
      const double higher = determinant_higher_order<dim>(H), excess = H.trace() + higher;
      const double log_J = log_one_plus(excess);
      return mu * (0.5 * H.squaredNorm() - higher + excess_over_log(excess)) + 0.5 * lambda * log_J * log_J;
    }
    const double log_J = std::log(J);
    return 0.5 * mu * (F.squaredNorm() - dim - 2.0 * log_J) + 0.5 * lambda * log_J * log_J;
  }

  static Matrix first_piola(const Matrix& F, const Parameters& p) {
    const LogKinematics<dim> kin(F);
    return p[1] * (F - kin.Q) + (p[0] * kin.log_J) * kin.Q;
  }

  static void tangent(const Matrix& F, const Parameters& p, Tangent<dim>& A) {
    const LogKinematics<dim> kin(F);
    const auto [lambda, mu] = p;
    const double swap = mu - lambda * kin.log_J;
    for (int l = 0; l < dim; ++l)
      for (int k = 0; k < dim; ++k)
        for (int j = 0; j < dim; ++j)
          for (int i = 0; i < dim; ++i)
            A(dim * i + j, dim * k + l) = swap * (kin.Q(i, l) * kin.Q(k, j)) +
                                          lambda * (kin.Q(i, j) * kin.Q(k, l)) +
                                          (i == k && j == l ? mu : 0.0);
  }

  static std::array<Matrix, 2> stress_derivatives(const Matrix& F, const Parameters&) {
    const LogKinematics<dim> kin(F);
    return {kin.log_J * kin.Q, F - kin.Q};
  }

  /// K_ab = weight [mu g_a.g_b I + lambda h_a h_b^T + (mu - lambda ln J) h_b h_a^T], h = F^-T g.
  template <class Gradients, class Hessian>
  static void add_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight, const Matrix& F,
                          const Parameters& p, Hessian&& K) {
    const LogKinematics<dim> kin(F);
    const double metric = weight * p[1], outer = weight * p[0], swap = metric - outer * kin.log_J;
    NodeVectors<Gradients> h = gradients * kin.Q.transpose();
    add_upper_blocks(gradients.derived(), K, [&](Eigen::Index a, Eigen::Index b) {
      const double d = metric * gradients.row(a).dot(gradients.row(b));
      return [&, a, b, d](int i, int k) {
        return outer * h(a, i) * h(b, k) + swap * h(b, i) * h(a, k) + (i == k ? d : 0.0);
      };
    });
  }
};

} // namespace recoil::potentials
