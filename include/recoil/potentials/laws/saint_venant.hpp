#pragma once

#include "recoil/potentials/laws/law.hpp"

namespace recoil::potentials {

/// Saint Venant-Kirchhoff solid W = lambda/2 tr(E)^2 + mu E:E, E = (F^T F - I)/2; P = F S, S = lambda tr(E) I
/// + 2 mu E. Finite for inverted F and weak in compression.
template <int dim>
struct SaintVenant {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  static constexpr std::string_view name = "SaintVenant";
  static constexpr const auto& constants = lame_constants;
  using Parameters = std::array<double, 2>;
  static constexpr bool resists_inversion = false;
  static constexpr bool small_strain = false;

  static double energy_density(const Matrix& F, const Parameters& p) {
    const Matrix E = green_strain<dim>(F);
    return 0.5 * p[0] * E.trace() * E.trace() + p[1] * E.squaredNorm();
  }

  static Matrix first_piola(const Matrix& F, const Parameters& p) { return F * second_piola(F, p); }

  static void tangent(const Matrix& F, const Parameters& p, Tangent<dim>& A) {
    const Matrix S = second_piola(F, p), B = p[1] * (F * F.transpose());
    const auto [lambda, mu] = p;
    for (int l = 0; l < dim; ++l)
      for (int k = 0; k < dim; ++k)
        for (int j = 0; j < dim; ++j)
          for (int i = 0; i < dim; ++i)
            A(dim * i + j, dim * k + l) = lambda * (F(i, j) * F(k, l)) + mu * (F(i, l) * F(k, j)) +
                                          (i == k ? S(j, l) : 0.0) + (j == l ? B(i, k) : 0.0);
  }

  static std::array<Matrix, 2> stress_derivatives(const Matrix& F, const Parameters&) {
    const Matrix E = green_strain<dim>(F);
    return {E.trace() * F, 2.0 * F * E};
  }

  /// K_ab = weight [(g_a.S g_b) I + lambda f_a f_b^T + mu f_b f_a^T + mu (g_a.g_b) F F^T], f = F g.
  template <class Gradients, class Hessian>
  static void add_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight, const Matrix& F,
                          const Parameters& p, Hessian&& K) {
    const double lambda = weight * p[0], mu = weight * p[1];
    const Matrix B = mu * (F * F.transpose());
    const NodeVectors<Gradients> f = gradients * F.transpose(), s = gradients * (weight * second_piola(F, p));
    add_upper_blocks(gradients.derived(), K, [&](Eigen::Index a, Eigen::Index b) {
      const double d = s.row(a).dot(gradients.row(b)), metric = gradients.row(a).dot(gradients.row(b));
      return [&, a, b, d, metric](int i, int k) {
        return lambda * f(a, i) * f(b, k) + mu * f(b, i) * f(a, k) + metric * B(i, k) + (i == k ? d : 0.0);
      };
    });
  }

private:
  static Matrix second_piola(const Matrix& F, const Parameters& p) {
    const Matrix E = green_strain<dim>(F);
    return p[0] * E.trace() * Matrix::Identity() + 2.0 * p[1] * E;
  }
};

} // namespace recoil::potentials
