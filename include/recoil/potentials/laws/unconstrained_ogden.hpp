#pragma once

#include "recoil/geometry/rotation_svd.hpp"
#include "recoil/potentials/laws/law.hpp"

namespace recoil::potentials {

/// Compressible Ogden solid of up to six terms [Ogden 1972, Proc. R. Soc. A 328, eq. 2.7, in the deviatoric
/// form of PolyFEM's UnconstrainedOgden]: with the principal stretches lambda_i and J = det F,
///
///     W = sum_k 2 mu_k / alpha_k^2 (sum_i (J^(-1/d) lambda_i)^alpha_k - d) + sum_k (J - 1)^(2k) / D_k.
///
/// In small strain mu = sum_k mu_k and the bulk modulus is 2 / D_1. PolyFEM takes the eigenvalues of F for
/// the stretches in 2D; these are its singular values here, as they are in 3D.
///
/// In x_i = ln lambda_i - ln J / d, whose sum is zero, the first sum is 2 mu_k sum_i x_i^2 phi_2(alpha_k x_i)
/// with phi_n(y) = sum_j y^j / (j + n)!, so that neither small strains nor small exponents cancel.
/// Derivatives are taken in the frame of the stretches; quotients of their differences are hyperbolic sines
/// of x_i - x_j, which equal stretches do not harm.
template <int dim>
struct UnconstrainedOgden {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  static constexpr std::string_view name = "UnconstrainedOgden";
  static constexpr int max_terms = 6;
  static constexpr std::array constants{
      LawConstant{.name = "mus",
                  .quantity = "ogden_mu",
                  .unit = "Pa",
                  .doc = "2 mu/alpha^2 multiplies the power of each term; they add up to the shear modulus",
                  .max_terms = max_terms},
      LawConstant{.name = "alphas",
                  .quantity = "ogden_alpha",
                  .doc = "exponents of the principal stretches",
                  .max_terms = max_terms},
      LawConstant{.name = "Ds",
                  .quantity = "ogden_d",
                  .unit = "1/Pa",
                  .doc = "(J - 1)^(2k)/D is the energy of a change of volume; 2/D of the first term is the "
                         "bulk modulus",
                  .min = 0,
                  .max_terms = max_terms,
                  .absent = std::numeric_limits<double>::infinity()}};
  using Parameters = std::array<double, 3 * max_terms>;
  static constexpr bool resists_inversion = true;
  static constexpr bool small_strain = false;

  static double energy_density(const Matrix& F, const Parameters& p) {
    if (!(determinant<dim>(F, cofactor<dim>(F)) > 0.0)) return std::numeric_limits<double>::infinity();
    const Principal principal(F);
    double W = 0.0, power = 1.0;
    for (std::size_t k = 0; k < max_terms; ++k) {
      for (const double x : principal.x)
        if (mu(p, k) != 0.0) W += 2.0 * mu(p, k) * x * x * phi<2>(alpha(p, k) * x);
      W += (power *= principal.excess * principal.excess) / D(p, k);
    }
    return W;
  }

  static Matrix first_piola(const Matrix& F, const Parameters& p) {
    const Principal principal(F);
    Vector slope = Vector::Zero();
    for (std::size_t k = 0; k < max_terms; ++k) slope += mu(p, k) * principal.slopes(alpha(p, k));
    return principal.stress(slope) + pressure(principal, p) * cofactor<dim>(F);
  }

  static void tangent(const Matrix& F, const Parameters& p, Tangent<dim>& A) {
    const Principal s(F);
    // dW/d(ln lambda_i) = g_i - mean(g) + J U', whose derivatives are these.
    Vector g = Vector::Zero(), curvature = Vector::Zero();
    for (std::size_t k = 0; k < max_terms; ++k) {
      if (mu(p, k) == 0.0) continue;
      g += mu(p, k) * s.slopes(alpha(p, k));
      curvature += 2.0 * mu(p, k) * (alpha(p, k) * s.x.array()).exp().matrix();
    }
    const double JU = s.J * pressure(s, p);
    const Vector tau = (g.array() - g.mean() + JU).matrix();
    const double volumetric = JU + s.J * s.J * stiffness(s, p) + curvature.mean() / dim;
    A.setZero();
    for (int a = 0; a < dim; ++a)
      for (int b = 0; b < dim; ++b) {
        const double T =
            volumetric - (curvature[a] + curvature[b]) / dim + (a == b ? curvature[a] - tau[a] : 0.0);
        add_product(s, T / (s.stretches[a] * s.stretches[b]), a, a, b, b, A);
        if (a == b) continue;
        // (tau_a - tau_b) / (lambda_a^2 - lambda_b^2)
        const double metric = shear(s, p, a, b);
        add_product(s, metric, a, b, a, b, A);
        add_product(s, exchange(s, metric, tau, a, b), a, b, b, a, A);
      }
  }

  static std::array<Matrix, 3 * max_terms> stress_derivatives(const Matrix& F, const Parameters& p) {
    const Principal principal(F);
    const Matrix cof = cofactor<dim>(F);
    std::array<Matrix, 3 * max_terms> derivatives;
    double power = principal.excess; // (J - 1)^(2k - 1)
    for (std::size_t k = 0; k < max_terms; ++k) {
      derivatives[k] = principal.stress(principal.slopes(alpha(p, k)));
      Vector by_alpha;
      for (int i = 0; i < dim; ++i) {
        const double x = principal.x[i], y = alpha(p, k) * x;
        by_alpha[i] = 2.0 * mu(p, k) * x * x * (phi<1>(y) - phi<2>(y));
      }
      derivatives[max_terms + k] = principal.stress(by_alpha);
      derivatives[2 * max_terms + k] = -2.0 * (k + 1) * power / (D(p, k) * D(p, k)) * cof;
      power *= principal.excess * principal.excess;
    }
    return derivatives;
  }

  static Parameters energy_derivatives(const Matrix& F, const Parameters& p) {
    const Principal principal(F);
    Parameters derivatives{};
    double power = 1.0;
    for (std::size_t k = 0; k < max_terms; ++k) {
      for (const double x : principal.x) {
        const double y = alpha(p, k) * x;
        derivatives[k] += 2.0 * x * x * phi<2>(y);
        derivatives[max_terms + k] += 2.0 * mu(p, k) * x * x * x * (phi<2>(y) - 2.0 * phi<3>(y));
      }
      power *= principal.excess * principal.excess;
      derivatives[2 * max_terms + k] = -power / (D(p, k) * D(p, k));
    }
    return derivatives;
  }

  template <class Gradients, class Hessian>
  static void add_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight, const Matrix& F,
                          const Parameters& p, Hessian&& K) {
    Tangent<dim> A;
    tangent(F, p, A);
    add_upper_blocks(gradients.derived(), K, [&](Eigen::Index a, Eigen::Index b) {
      return [&, a, b](int i, int k) -> double {
        return weight * gradients.row(a) * A.template block<dim, dim>(dim * i, dim * k) *
               gradients.row(b).transpose();
      };
    });
  }

private:
  using Vector = Eigen::Matrix<double, dim, 1>;

  static double mu(const Parameters& p, std::size_t k) { return p[k]; }
  static double alpha(const Parameters& p, std::size_t k) { return p[max_terms + k]; }
  static double D(const Parameters& p, std::size_t k) { return p[2 * max_terms + k]; }

  /// sum_j y^j / (j + n)!
  template <int n>
  static double phi(double y) {
    if (std::abs(y) < 1.0) {
      // The series runs to y^18 / (18 + n)! < 1e-17.
      double series = 1.0;
      for (int j = 18; j >= 1; --j) series = 1.0 + series * y / (j + n);
      return series / (n == 3 ? 6.0 : n);
    }
    double value = std::expm1(y) / y, inverse_factorial = 1.0;
    for (int j = 1; j < n; ++j) {
      value = (value - inverse_factorial) / y;
      inverse_factorial /= j + 1;
    }
    return value;
  }

  /// sinh(y) / y
  static double sinhc(double y) {
    if (std::abs(y) > 1e-3) return std::sinh(y) / y;
    const double s = y * y;
    return 1.0 + s / 6.0 * (1.0 + s / 20.0);
  }

  /// The singular value decomposition of F with J > 0, and what the terms are made of.
  struct Principal {
    explicit Principal(const Matrix& F)
        : svd(geometry::rotation_svd<dim>(F)), excess(determinant_excess<dim>(F)),
          J(determinant<dim>(F, cofactor<dim>(F))), stretches(svd.sigma) {
      // The smallest one would lose digits against the largest.
      stretches[dim - 1] = J / stretches.template head<dim - 1>().prod();
      const Matrix E = green_strain<dim>(F);
      for (int i = 0; i < dim; ++i) {
        const double strain = svd.V.col(i).dot(E * svd.V.col(i));
        x[i] = std::abs(stretches[i] - 1.0) < 0.1 && E.norm() < 0.5 ? 0.5 * log_one_plus(2.0 * strain)
                                                                    : std::log(stretches[i]);
      }
      x.array() -= x.mean();
    }
    /// d(2 sum_i x_i^2 phi_2(alpha x_i))/dx_i but for a constant: (2/alpha) exp(alpha x_i).
    Vector slopes(double alpha) const {
      Vector g;
      for (int i = 0; i < dim; ++i) g[i] = 2.0 * x[i] * phi<1>(alpha * x[i]);
      return g;
    }
    /// First Piola-Kirchhoff stress of a deviatoric energy with the derivatives g by x.
    Matrix stress(const Vector& g) const {
      const Vector P = (g.array() - g.mean()) / stretches.array();
      return svd.U * P.asDiagonal() * svd.V.transpose();
    }

    geometry::RotationSvd<dim> svd;
    double excess, J; ///< J - 1 without cancellation, J
    Vector stretches, x;
  };

  /// U'(J) and U''(J) of the energy of a change of volume.
  static double pressure(const Principal& principal, const Parameters& p) {
    double sum = 0.0, power = principal.excess;
    for (std::size_t k = 0; k < max_terms; ++k) {
      sum += 2.0 * (k + 1) / D(p, k) * power;
      power *= principal.excess * principal.excess;
    }
    return sum;
  }
  static double stiffness(const Principal& principal, const Parameters& p) {
    double sum = 0.0, power = 1.0;
    for (std::size_t k = 0; k < max_terms; ++k) {
      const double n = 2.0 * (k + 1);
      sum += n * (n - 1.0) / D(p, k) * power;
      power *= principal.excess * principal.excess;
    }
    return sum;
  }

  /// (tau_a - tau_b) / (lambda_a^2 - lambda_b^2) = sum_k mu_k exp(alpha_k (x_a + x_b)/2) sinhc(alpha_k h/2) /
  /// (lambda_a lambda_b sinhc(h)) with h = x_a - x_b.
  static double shear(const Principal& s, const Parameters& p, int a, int b) {
    const double h = s.x[a] - s.x[b], mean = 0.5 * (s.x[a] + s.x[b]);
    double sum = 0.0;
    for (std::size_t k = 0; k < max_terms; ++k)
      if (mu(p, k) != 0.0) sum += mu(p, k) * std::exp(alpha(p, k) * mean) * sinhc(0.5 * alpha(p, k) * h);
    return sum / (s.stretches[a] * s.stretches[b] * sinhc(h));
  }
  /// (lambda_b tau_a / lambda_a - lambda_a tau_b / lambda_b) / (lambda_a^2 - lambda_b^2), symmetric in a and
  /// b.
  static double exchange(const Principal& s, double metric, const Vector& tau, int a, int b) {
    const double la = s.stretches[a], lb = s.stretches[b];
    return 0.5 * (metric * (la / lb + lb / la) - (tau[a] + tau[b]) / (la * lb));
  }

  /// A += value (u_a v_b') o (u_c v_d') with the singular vectors u and v.
  static void add_product(const Principal& s, double value, int a, int b, int c, int d, Tangent<dim>& A) {
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j) {
        const double left = value * s.svd.U(i, a) * s.svd.V(j, b);
        for (int k = 0; k < dim; ++k)
          for (int l = 0; l < dim; ++l) A(dim * i + j, dim * k + l) += left * s.svd.U(k, c) * s.svd.V(l, d);
      }
  }
};

} // namespace recoil::potentials
