#pragma once

#include "recoil/potentials/laws/law.hpp"

namespace recoil::potentials {

/// Linear elasticity W = lambda/2 tr(e)^2 + mu e:e, e = sym(F - I) . Not invariant under rotations.
template <int dim>
struct LinearElasticity {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  static constexpr std::string_view name = "LinearElasticity", alias = "HookeLinearElasticity";
  static constexpr const auto& constants = lame_constants;
  using Parameters = std::array<double, 2>;
  static constexpr bool resists_inversion = false;
  static constexpr bool small_strain = true;

  static double energy_density(const Matrix& F, const Parameters& p) {
    const Matrix e = strain(F);
    return 0.5 * p[0] * e.trace() * e.trace() + p[1] * e.squaredNorm();
  }

  static Matrix first_piola(const Matrix& F, const Parameters& p) {
    const Matrix e = strain(F);
    return p[0] * e.trace() * Matrix::Identity() + 2.0 * p[1] * e;
  }

  static void tangent(const Matrix&, const Parameters& p, Tangent<dim>& A) {
    for (int l = 0; l < dim; ++l)
      for (int k = 0; k < dim; ++k)
        for (int j = 0; j < dim; ++j)
          for (int i = 0; i < dim; ++i)
            A(dim * i + j, dim * k + l) = (i == j && k == l ? p[0] : 0.0) + (i == k && j == l ? p[1] : 0.0) +
                                          (i == l && j == k ? p[1] : 0.0);
  }

  static std::array<Matrix, 2> stress_derivatives(const Matrix& F, const Parameters&) {
    const Matrix e = strain(F);
    return {e.trace() * Matrix::Identity(), 2.0 * e};
  }

  /// K_ab = weight [mu g_a.g_b I + lambda g_a g_b^T + mu g_b g_a^T].
  template <class Gradients, class Hessian>
  static void add_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight, const Matrix&,
                          const Parameters& p, Hessian&& K) {
    const double lambda = weight * p[0], mu = weight * p[1];
    add_upper_blocks(gradients.derived(), K, [&](Eigen::Index a, Eigen::Index b) {
      const double d = mu * gradients.row(a).dot(gradients.row(b));
      return [&, a, b, d](int i, int k) {
        return lambda * gradients(a, i) * gradients(b, k) + mu * gradients(b, i) * gradients(a, k) +
               (i == k ? d : 0.0);
      };
    });
  }

private:
  static Matrix strain(const Matrix& F) {
    const Matrix H = F - Matrix::Identity();
    return 0.5 * (H + H.transpose());
  }
};

} // namespace recoil::potentials
