#include "recoil/potentials/laws/strain_rate_damping.hpp"

#include <cstdio>

#include <gtest/gtest.h>

#include "laws/samples.hpp"
#include "support/finite_difference.hpp"

using namespace recoil::potentials;
using namespace recoil::testing;

namespace {

template <int dim>
void check_derivatives() {
  using Damping = StrainRateDamping<dim>;
  const typename Damping::Parameters p{0.7, 1.3};
  const double dt = 0.05;
  std::mt19937 generator(9);
  double worst = 0.0;
  for (const Sample<dim>& sample : samples<dim>(true)) {
    SCOPED_TRACE(sample.kind);
    const Matrix<dim> previous = sample.F + 0.1 * random_matrix<dim>(generator);
    const Eigen::VectorXd f = flat<dim>(sample.F);
    const Matrix<dim> P = Damping::first_piola(sample.F, previous, dt, p);
    Tangent<dim> A, A_previous;
    Damping::tangent(sample.F, previous, dt, p, A);
    Damping::tangent_previous(sample.F, previous, dt, p, A_previous);
    EXPECT_GT(P.norm(), 1e-2);
    EXPECT_GT(A_previous.norm(), 1e-2);
    EXPECT_LT((A - A.transpose()).norm(), 1e-13 * A.norm());
    const auto derivatives = Damping::stress_derivatives(sample.F, previous, dt, p);
    Eigen::MatrixXd D(dim * dim, 2);
    D << flat<dim>(derivatives[0]), flat<dim>(derivatives[1]);

    const double errors[] = {
        gradient_error(
            [&](const Eigen::VectorXd& x) {
              return Damping::energy_density(unflat<dim>(x), previous, dt, p);
            },
            f, flat<dim>(P)),
        jacobian_error(
            [&](const Eigen::VectorXd& x) {
              return flat<dim>(Damping::first_piola(unflat<dim>(x), previous, dt, p));
            },
            f, A),
        jacobian_error(
            [&](const Eigen::VectorXd& x) {
              return flat<dim>(Damping::first_piola(sample.F, unflat<dim>(x), dt, p));
            },
            flat<dim>(previous), A_previous),
        jacobian_error(
            [&](const Eigen::VectorXd& q) {
              return flat<dim>(Damping::first_piola(sample.F, previous, dt, {q[0], q[1]}));
            },
            Eigen::Vector2d(p[0], p[1]), D)};
    for (double error : errors) {
      EXPECT_LT(error, 1e-8);
      worst = std::max(worst, error);
    }
  }
  std::printf("StrainRateDamping %dD: worst relative error %.1e\n", dim, worst);
}

} // namespace

TEST(StrainRateDamping, DerivativesAgreeWithFiniteDifferences) {
  check_derivatives<2>();
  check_derivatives<3>();
}

TEST(StrainRateDamping, IsDissipativeAndBlindToRigidMotion) {
  std::mt19937 generator(13);
  const StrainRateDamping<3>::Parameters p{0.7, 1.3};
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Matrix<3> F = random_matrix<3>(generator), previous = random_matrix<3>(generator);
    const double W = StrainRateDamping<3>::energy_density(F, previous, 0.1, p);
    EXPECT_GT(W, 0.0);
    const Matrix<3> R = random_rotation<3>(generator), S = random_rotation<3>(generator);
    EXPECT_NEAR(StrainRateDamping<3>::energy_density(R * F, S * previous, 0.1, p), W, 1e-11 * W);
    EXPECT_LT(StrainRateDamping<3>::first_piola(R * F, F, 0.1, p).norm(),
              1e-12 * F.norm() * F.squaredNorm() / 0.1);
    EXPECT_LT((StrainRateDamping<3>::first_piola(R * F, previous, 0.1, p) -
               R * StrainRateDamping<3>::first_piola(F, previous, 0.1, p))
                  .norm(),
              1e-11 * (1.0 + W));
  }
}

TEST(StrainRateDamping, SimpleShearRateByHand) {
  // F' = I, F = diag(1 + e): D = (e + e^2/2)/dt in one entry.
  Matrix<2> F = Matrix<2>::Identity();
  F(0, 0) = 1.2;
  const double D = 0.22 / 0.5;
  EXPECT_NEAR((StrainRateDamping<2>::energy_density(F, Matrix<2>::Identity(), 0.5, {3.0, 4.0})),
              0.5 * (3.0 * D * D + 2.0 * D * D), 1e-15);
  const Matrix<2> P = StrainRateDamping<2>::first_piola(F, Matrix<2>::Identity(), 0.5, {3.0, 4.0});
  EXPECT_NEAR(P(0, 0), 1.2 * (6.0 * D + 4.0 * D), 1e-14);
  EXPECT_NEAR(P(1, 1), 4.0 * D, 1e-14);
}
