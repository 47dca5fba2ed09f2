#pragma once

#include "recoil/potentials/laws/law.hpp"

namespace recoil::potentials {

/// Compressible Mooney-Rivlin solid on B = F F^T J^(-2/d) as in PolyFEM: with I1 = tr B, I2 = (I1^2 - tr
/// B^2)/2,
///
///     W = c1 (I1 - d) + c2 (I2 - I2(identity)) + k/2 (ln J)^2.
///
/// In 2D I2 = det B = 1 whatever F, so c2 has no effect; PolyFEM subtracts d there, a constant -c2 that we
/// leave out so that W(I) = 0. With C = F^T F, a = J^(-2/d), b = J^(-4/d), i1 = tr C, i2 = (i1^2 - tr C^2)/2,
/// g1 = 2 F, g2 = 2 i1 F - 2 F C and Q = F^-T: P = c1 H1 + c2 H2 + k ln(J) Q, H1 = a (g1 - 2/d i1 Q), H2 = b
/// (g2 - 4/d i2 Q).
template <int dim>
struct MooneyRivlin {
  using Matrix = SquareMatrix<dim>;
  static constexpr int dimension = dim;
  static constexpr std::string_view name = "MooneyRivlin";
  static constexpr std::array constants{
      LawConstant{.name = "c1", .quantity = "mooney_c1", .unit = "Pa"},
      LawConstant{.name = "c2", .quantity = "mooney_c2", .unit = "Pa", .min_dimension = 3},
      LawConstant{.name = "k", .quantity = "mooney_k", .unit = "Pa", .doc = "bulk modulus", .min = 0}};
  using Parameters = std::array<double, 3>;
  static constexpr bool resists_inversion = true;
  static constexpr bool small_strain = false;

  static double energy_density(const Matrix& F, const Parameters& p) {
    const Matrix cof = cofactor<dim>(F);
    const double J = determinant<dim>(F, cof);
    if (!(J > 0.0)) return std::numeric_limits<double>::infinity();
    const double log_J = log_determinant<dim>(F, J);
    // i1 - d = 2 tr E and, in 3D, i2 - 3 = 4 tr E + 2 ((tr E)^2 - E:E), E the Green strain: no cancellation
    // at small strain.
    const Matrix E = green_strain<dim>(F);
    const double trace = E.trace(), i1_excess = 2.0 * trace;
    double W = 0.5 * p[2] * log_J * log_J + p[0] * isochoric_excess(i1_excess, dim, -2.0 / dim * log_J);
    if constexpr (dim == 3)
      W += p[1] * isochoric_excess(2.0 * i1_excess + 2.0 * (trace * trace - E.squaredNorm()), 3.0,
                                   -4.0 / 3.0 * log_J);
    return W;
  }

  static Matrix first_piola(const Matrix& F, const Parameters& p) {
    const Terms terms(F);
    Matrix P = p[0] * terms.H1 + (p[2] * terms.kin.log_J) * terms.kin.Q;
    if constexpr (dim == 3) P += p[1] * terms.H2;
    return P;
  }

  static void tangent(const Matrix& F, const Parameters& p, Tangent<dim>& A) {
    const Terms terms(F);
    const Coefficients c(terms, p, 1.0);
    const Matrix &Q = terms.kin.Q, C = F.transpose() * F, B = F * F.transpose();
    const Matrix G = c.first(terms, F);
    for (int l = 0; l < dim; ++l)
      for (int k = 0; k < dim; ++k)
        for (int j = 0; j < dim; ++j)
          for (int i = 0; i < dim; ++i) {
            double value = c.outer * (Q(i, j) * Q(k, l)) + c.swap * (Q(i, l) * Q(k, j)) - G(i, j) * Q(k, l) -
                           Q(i, j) * G(k, l) + (i == k && j == l ? c.metric : 0.0);
            if constexpr (dim == 3)
              value += c.b2 * (2.0 * (F(i, j) * F(k, l)) - F(i, l) * F(k, j) - (i == k ? C(j, l) : 0.0) -
                               (j == l ? B(i, k) : 0.0));
            A(dim * i + j, dim * k + l) = value;
          }
  }

  static std::array<Matrix, 3> stress_derivatives(const Matrix& F, const Parameters&) {
    const Terms terms(F);
    return {terms.H1, terms.H2, terms.kin.log_J * terms.kin.Q};
  }

  /// The tangent contracted term by term: metric, outer and exchanged products of Q g, F g and G g.
  template <class Gradients, class Hessian>
  static void add_hessian(const Eigen::MatrixBase<Gradients>& gradients, double weight, const Matrix& F,
                          const Parameters& p, Hessian&& K) {
    const Terms terms(F);
    const Coefficients c(terms, p, weight);
    const NodeVectors<Gradients> h = gradients * terms.kin.Q.transpose();
    const NodeVectors<Gradients> m = gradients * c.first(terms, F).transpose();
    const NodeVectors<Gradients> f = gradients * F.transpose();
    const Matrix B = c.b2 * (F * F.transpose());
    add_upper_blocks(gradients.derived(), K, [&](Eigen::Index a, Eigen::Index b) {
      const double metric = gradients.row(a).dot(gradients.row(b));
      const double d = c.metric * metric - (dim == 3 ? c.b2 * f.row(a).dot(f.row(b)) : 0.0);
      return [&, a, b, d, metric](int i, int k) {
        double value = c.outer * h(a, i) * h(b, k) + c.swap * h(b, i) * h(a, k) - m(a, i) * h(b, k) -
                       h(a, i) * m(b, k) + (i == k ? d : 0.0);
        if constexpr (dim == 3)
          value += c.b2 * (2.0 * f(a, i) * f(b, k) - f(b, i) * f(a, k)) - metric * B(i, k);
        return value;
      };
    });
  }

private:
  // exp(exponent) (reference + excess) - reference, with small excess and exponent not lost against the
  // reference.
  static double isochoric_excess(double excess, double reference, double exponent) {
    const double growth = std::expm1(exponent);
    return growth * (reference + excess) + excess;
  }

  struct Terms {
    explicit Terms(const Matrix& F) : kin(F) {
      a = std::exp(-2.0 / dim * kin.log_J);
      i1 = F.squaredNorm();
      H1 = a * (2.0 * F - (2.0 / dim * i1) * kin.Q);
      if constexpr (dim == 3) {
        const Matrix C = F.transpose() * F;
        b = a * a;
        i2 = 0.5 * (i1 * i1 - C.squaredNorm());
        g2 = 2.0 * i1 * F - 2.0 * F * C;
        H2 = b * (g2 - (4.0 / dim * i2) * kin.Q);
      } else {
        H2.setZero();
      }
    }
    LogKinematics<dim> kin;
    double a = 0.0, b = 0.0, i1 = 0.0, i2 = 0.0;
    Matrix g2 = Matrix::Zero(), H1, H2;
  };

  // A = metric d_ik d_jl + outer Q o Q + swap Q_il Q_kj - (G o Q + Q o G) + b2 [2 F o F - F_il F_kj - C_jl
  // d_ik - B_ik d_jl].
  struct Coefficients {
    Coefficients(const Terms& t, const Parameters& p, double weight)
        : c1(weight * p[0] * t.a), c2(weight * p[1] * t.b), b2(2.0 * c2), metric(2.0 * (c1 + c2 * t.i1)) {
      const double k = weight * p[2];
      outer = k + 4.0 / (dim * dim) * (c1 * t.i1 + 4.0 * c2 * t.i2);
      swap = 2.0 / dim * (c1 * t.i1 + 2.0 * c2 * t.i2) - k * t.kin.log_J;
    }
    Matrix first(const Terms& t, const Matrix& F) const {
      return 2.0 / dim * (2.0 * c1 * F + 2.0 * c2 * t.g2);
    }
    double c1, c2, b2, metric, outer = 0.0, swap = 0.0;
  };
};

} // namespace recoil::potentials
