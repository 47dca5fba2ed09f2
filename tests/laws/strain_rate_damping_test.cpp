#include "recoil/potentials/laws/damping.hpp"

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "laws/samples.hpp"
#include "support/finite_difference.hpp"

using namespace recoil::potentials;
using namespace recoil::testing;

namespace {

template <class Damping>
void check_derivatives(const std::string& name) {
  constexpr int dim = Damping::dimension;
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
  std::printf("%s %dD: worst relative error %.1e\n", name.c_str(), dim, worst);
}

} // namespace

TEST(StrainRateDamping, DerivativesAgreeWithFiniteDifferences) {
  check_derivatives<StrainRateDamping<2>>("StrainRateDamping");
  check_derivatives<StrainRateDamping<3>>("StrainRateDamping");
}

TEST(EndpointRateDamping, DerivativesAgreeWithFiniteDifferences) {
  check_derivatives<EndpointRateDamping<2>>("EndpointRateDamping");
  check_derivatives<EndpointRateDamping<3>>("EndpointRateDamping");
}

TEST(EndpointRateDamping, StretchByHand) {
  // F' = I, F = diag(1 + e): D = e (1 + e)/dt in one entry, P = (1 + 2 e)/dt (2 psi D + phi D).
  Matrix<2> F = Matrix<2>::Identity();
  F(0, 0) = 1.2;
  const double D = 0.2 * 1.2 / 0.5;
  EXPECT_NEAR((EndpointRateDamping<2>::energy_density(F, Matrix<2>::Identity(), 0.5, {3.0, 4.0})),
              3.0 * D * D + 2.0 * D * D, 1e-15);
  const Matrix<2> P = EndpointRateDamping<2>::first_piola(F, Matrix<2>::Identity(), 0.5, {3.0, 4.0});
  EXPECT_NEAR(P(0, 0), 1.4 / 0.5 * (6.0 * D + 4.0 * D), 1e-13);
  EXPECT_NEAR(P(1, 1), 1.0 / 0.5 * 4.0 * D, 1e-13);
}

TEST(EndpointRateDamping, SmallStepsAreThoseOfStrainRateDampingOverTheStep) {
  std::mt19937 generator(21);
  const EndpointRateDamping<3>::Parameters p{0.7, 1.3};
  const Matrix<3> previous = Matrix<3>::Identity() + 0.2 * random_matrix<3>(generator),
                  rate = random_matrix<3>(generator);
  double last = 1;
  for (const double dt : {1e-3, 1e-4, 1e-5}) {
    const Matrix<3> F = previous + dt * rate,
                    ours = StrainRateDamping<3>::first_piola(F, previous, dt, p) / dt;
    const double error =
        (EndpointRateDamping<3>::first_piola(F, previous, dt, p) - ours).norm() / ours.norm();
    EXPECT_LT(error, 0.12 * last);
    last = error;
  }
  EXPECT_LT(last, 1e-4);
}

TEST(EndpointRateDamping, TurnsWithTheBodyButDampsItsTurning) {
  std::mt19937 generator(13);
  const EndpointRateDamping<3>::Parameters p{0.7, 1.3};
  const Matrix<3> F = random_matrix<3>(generator), previous = random_matrix<3>(generator),
                  R = random_rotation<3>(generator);
  const Matrix<3> P = EndpointRateDamping<3>::first_piola(F, previous, 0.1, p);
  EXPECT_LT((EndpointRateDamping<3>::first_piola(R * F, R * previous, 0.1, p) - R * P).norm(),
            1e-12 * P.norm());
  EXPECT_GT(EndpointRateDamping<3>::energy_density(R * previous, previous, 0.1, p), 1e-2);
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
