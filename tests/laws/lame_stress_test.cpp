#include <gtest/gtest.h>

#include "laws/samples.hpp"
#include "recoil/potentials/laws/lame.hpp"
#include "recoil/potentials/laws/linear_elasticity.hpp"
#include "recoil/potentials/laws/neo_hookean.hpp"
#include "recoil/potentials/laws/stress.hpp"
#include "support/finite_difference.hpp"

using namespace recoil::potentials;
using namespace recoil::testing;

TEST(Lame, RoundTripAndDerivatives) {
  for (const LameModel model : {LameModel::solid, LameModel::plane_stress})
    for (const double nu : {-0.6, -0.1, 0.0, 0.3, 0.45, 0.4999})
      for (const double E : {0.5, 2.0}) {
        const ElasticPair lame = lame_from_young(E, nu, model);
        const ElasticPair young = young_from_lame(lame.values[0], lame.values[1], model);
        EXPECT_NEAR(young.values[0], E, 1e-12 * E);
        EXPECT_NEAR(young.values[1], nu, 1e-12);
        EXPECT_LT((lame.jacobian * young.jacobian - Eigen::Matrix2d::Identity()).norm(), 1e-8);
        const double scale = 0.1 * std::min(0.5 - nu, 1.0 + nu);
        EXPECT_LT(jacobian_error(
                      [&](const Eigen::VectorXd& q) {
                        return Eigen::VectorXd(lame_from_young(q[0], q[1], model).values);
                      },
                      Eigen::Vector2d(E, nu), lame.jacobian, scale),
                  1e-8);
        EXPECT_LT(jacobian_error(
                      [&](const Eigen::VectorXd& q) {
                        return Eigen::VectorXd(young_from_lame(q[0], q[1], model).values);
                      },
                      lame.values, young.jacobian, 0.1),
                  1e-8);
      }
}

TEST(Lame, ValuesByHand) {
  const auto solid = lame_from_young(1.0, 0.25, LameModel::solid).values;
  EXPECT_NEAR(solid[0], 0.4, 1e-15);
  EXPECT_NEAR(solid[1], 0.4, 1e-15);
  EXPECT_NEAR(lame_from_young(1.0, 0.25, LameModel::plane_stress).values[0], 0.25 / 0.9375, 1e-15);
}

// Plane stress: the in-plane response to uniaxial stress has Poisson's ratio nu and Young's modulus E.
TEST(Lame, PlaneStressGivesYoungsModulusUnderUniaxialStress) {
  const double E = 3.0, nu = 0.3;
  const auto lame = lame_from_young(E, nu, LameModel::plane_stress).values;
  Matrix<2> F = Matrix<2>::Identity();
  F(0, 0) += 1e-3;
  F(1, 1) -= nu * 1e-3;
  const Matrix<2> P = LinearElasticity<2>::first_piola(F, {lame[0], lame[1]});
  EXPECT_NEAR(P(0, 0), E * 1e-3, 1e-15);
  EXPECT_NEAR(P(1, 1), 0.0, 1e-15);
}

TEST(Stress, CauchyIsSymmetricAndRotatesWithTheBody) {
  std::mt19937 generator(3);
  const std::array<double, 2> p{1.7, 0.9};
  for (const Sample<3>& sample : samples<3>(false)) {
    const Matrix<3> s = cauchy_stress<NeoHookean<3>>(sample.F, p), R = random_rotation<3>(generator);
    EXPECT_LT((s - s.transpose()).norm(), 1e-11 / sample.scale * (1.0 + s.norm()));
    EXPECT_LT((cauchy_stress<NeoHookean<3>>(R * sample.F, p) - R * s * R.transpose()).norm(),
              1e-11 / sample.scale * (1.0 + s.norm()));
    EXPECT_NEAR(von_mises<3>(R * s * R.transpose()), von_mises<3>(s),
                1e-11 / sample.scale * (1.0 + s.norm()));
    EXPECT_GT(von_mises<3>(s), 0.0);
  }
  // Uniaxial stretch by hand: sigma_11 = P_11 / (area ratio 1).
  const Matrix<3> F = Eigen::Vector3d(2.0, 1.0, 1.0).asDiagonal();
  EXPECT_NEAR(cauchy_stress<NeoHookean<3>>(F, p)(0, 0), NeoHookean<3>::first_piola(F, p)(0, 0), 1e-15);
}

TEST(Stress, LinearLawsReportTheirOwnStress) {
  Matrix<2> F = Matrix<2>::Identity();
  F(0, 1) = 0.4;
  const Matrix<2> s = cauchy_stress<LinearElasticity<2>>(F, {1.0, 2.0});
  EXPECT_EQ(s, LinearElasticity<2>::first_piola(F, {1.0, 2.0}));
  EXPECT_NEAR(s(0, 1), 0.8, 1e-15);
}

TEST(Stress, VonMisesByHand) {
  EXPECT_NEAR(von_mises<3>(Matrix<3>(Eigen::Vector3d(5.0, 0.0, 0.0).asDiagonal())), 5.0, 1e-14);
  EXPECT_EQ(von_mises<3>(Matrix<3>(7.0 * Matrix<3>::Identity())), 0.0);
  Matrix<2> s;
  s << 3.0, 2.0, 2.0, -1.0;
  Matrix<3> embedded = Matrix<3>::Zero();
  embedded.topLeftCorner<2, 2>() = s;
  EXPECT_NEAR(von_mises<2>(s), std::sqrt(9.0 + 3.0 + 1.0 + 12.0), 1e-14);
  EXPECT_NEAR(von_mises<2>(s), von_mises<3>(embedded), 1e-14);
}
