#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <Eigen/SVD>
#include <gtest/gtest.h>

#include "laws/samples.hpp"
#include "recoil/potentials/laws/all.hpp"
#include "recoil/potentials/laws/projected_tangent.hpp"
#include "support/finite_difference.hpp"

using namespace recoil::potentials;
using namespace recoil::testing;

namespace {

template <class... In2D, class... In3D>
::testing::Types<In2D..., In3D...> test_types(LawList<In2D...>, LawList<In3D...>);

template <class Law>
class Laws : public ::testing::Test {};
TYPED_TEST_SUITE(Laws, decltype(test_types(AllLaws<2>(), AllLaws<3>())));

} // namespace

TYPED_TEST(Laws, DerivativesAgreeWithFiniteDifferences) {
  using Law = TypeParam;
  constexpr int dim = Law::dimension;
  static_assert(ConstitutiveLaw<Law>);
  const auto p = Example<Law>::parameters;
  double worst_stress = 0.0, worst_tangent = 0.0, worst_parameter = 0.0;
  for (const Sample<dim>& sample : samples<dim>(!Law::resists_inversion)) {
    SCOPED_TRACE(sample.kind);
    const Eigen::VectorXd f = flat<dim>(sample.F);
    const Matrix<dim> P = Law::first_piola(sample.F, p);
    ASSERT_TRUE(P.allFinite());
    EXPECT_GT(P.norm(), 1e-4);
    const auto energy = [&](const Eigen::VectorXd& x) { return Law::energy_density(unflat<dim>(x), p); };
    const double stress_error = gradient_error(energy, f, flat<dim>(P), sample.scale);

    Tangent<dim> A = Tangent<dim>::Constant(std::numeric_limits<double>::quiet_NaN());
    Law::tangent(sample.F, p, A);
    EXPECT_LT((A - A.transpose()).norm(), 1e-13 * A.norm());
    const auto stress = [&](const Eigen::VectorXd& x) {
      return flat<dim>(Law::first_piola(unflat<dim>(x), p));
    };
    const double tangent_error = jacobian_error(stress, f, A, sample.scale);

    const auto derivatives = Law::stress_derivatives(sample.F, p);
    Eigen::MatrixXd D(dim * dim, p.size());
    Matrix<dim> sum = Matrix<dim>::Zero();
    for (std::size_t k = 0; k < p.size(); ++k) {
      D.col(static_cast<Eigen::Index>(k)) = flat<dim>(derivatives[k]);
      sum += p[k] * derivatives[k];
    }
    if constexpr (!requires { Law::energy_derivatives(sample.F, p); }) {
      EXPECT_LT((sum - P).norm(), 1e-12 * (P.norm() + 1.0)); // linear in the parameters
    }
    // By relative changes, as the parameters may differ in size.
    const auto changed = [&](const Eigen::VectorXd& x) {
      typename Law::Parameters values;
      for (std::size_t k = 0; k < p.size(); ++k) values[k] = p[k] * (1 + x[static_cast<Eigen::Index>(k)]);
      return values;
    };
    Eigen::VectorXd energies(D.cols());
    const auto by_energy = energy_derivatives<Law>(sample.F, p);
    for (Eigen::Index k = 0; k < D.cols(); ++k) {
      D.col(k) *= p[static_cast<std::size_t>(k)];
      energies[k] = by_energy[static_cast<std::size_t>(k)] * p[static_cast<std::size_t>(k)];
    }
    const Eigen::VectorXd unchanged = Eigen::VectorXd::Zero(D.cols());
    const double parameter_error = jacobian_error(
        [&](const auto& x) { return flat<dim>(Law::first_piola(sample.F, changed(x))); }, unchanged, D);
    const double energy_error = gradient_error(
        [&](const auto& x) { return Law::energy_density(sample.F, changed(x)); }, unchanged, energies);

    EXPECT_LT(stress_error, 1e-7);
    EXPECT_LT(tangent_error, 1e-7);
    EXPECT_LT(parameter_error, 1e-9);
    EXPECT_LT(energy_error, 1e-9);
    worst_stress = std::max(worst_stress, stress_error);
    worst_tangent = std::max(worst_tangent, tangent_error);
    worst_parameter = std::max(worst_parameter, parameter_error);
  }
  std::printf("%.*s %dD: worst relative error of P %.1e, A %.1e, dP/dp %.1e\n",
              static_cast<int>(Law::name.size()), Law::name.data(), dim, worst_stress, worst_tangent,
              worst_parameter);
}

TYPED_TEST(Laws, RotationsChangeNothing) {
  using Law = TypeParam;
  constexpr int dim = Law::dimension;
  const auto p = Example<Law>::parameters;
  std::mt19937 generator(31);
  for (const Sample<dim>& sample : samples<dim>(!Law::resists_inversion)) {
    SCOPED_TRACE(sample.kind);
    const Matrix<dim> R = random_rotation<dim>(generator);
    const double W = Law::energy_density(sample.F, p);
    const Matrix<dim> P = Law::first_piola(sample.F, p);
    EXPECT_GT(W, 0.0);
    if constexpr (Law::small_strain) {
      // Linear theory sees a rotation as strain: the reason why it is left out below.
      EXPECT_GT(std::abs(Law::energy_density(R * sample.F, p) - W), 1e-6);
      continue;
    }
    // Nearly inverted F amplifies rounding by 1 / scale.
    const double tolerance = 1e-12 / sample.scale;
    EXPECT_NEAR(Law::energy_density(R * sample.F, p), W, tolerance * (1.0 + W));
    EXPECT_NEAR(Law::energy_density(sample.F * R, p), W, tolerance * (1.0 + W)); // isotropy
    EXPECT_LT((Law::first_piola(R * sample.F, p) - R * P).norm(), tolerance * (1.0 + P.norm()));
    EXPECT_LT((P * sample.F.transpose() - sample.F * P.transpose()).norm(),
              tolerance * (1.0 + P.norm())); // no torque
  }
}

TYPED_TEST(Laws, ProjectedTangentIsTheNearestSemidefiniteOne) {
  using Law = TypeParam;
  constexpr int dim = Law::dimension;
  const auto p = Example<Law>::parameters;
  int changed = 0;
  for (const Sample<dim>& sample : samples<dim>(false)) {
    SCOPED_TRACE(sample.kind);
    Tangent<dim> A, expected;
    Law::tangent(sample.F, p, expected);
    const double size = expected.norm();
    const Tangent<dim> exact = expected;
    recoil::geometry::project_psd(expected);
    projected_tangent<Law>(sample.F, p, A);
    EXPECT_LT((A - expected).norm(), 1e-9 * size);
    changed += (A - exact).norm() > 1e-3 * size ? 1 : 0;
  }
  EXPECT_EQ(changed > 0, !Law::small_strain);
}

TYPED_TEST(Laws, RestIsFreeOfStressAndLinearTheoryIsTheLimit) {
  using Law = TypeParam;
  constexpr int dim = Law::dimension;
  const auto p = Example<Law>::parameters;
  const Matrix<dim> I = Matrix<dim>::Identity();
  EXPECT_EQ(Law::energy_density(I, p), 0.0);
  EXPECT_LT(Law::first_piola(I, p).norm(), 1e-15);
  Tangent<dim> A, linear;
  Law::tangent(I, p, A);
  LinearElasticity<dim>::tangent(I, Example<Law>::small_strain_lame, linear);
  EXPECT_LT((A - linear).norm(), 1e-13 * linear.norm());

  // The energy keeps its digits at tiny strains, where the naive sums of order one would lose them all.
  std::mt19937 generator(37);
  const Matrix<dim> H = random_matrix<dim>(generator);
  for (const double size : {1e-4, 1e-6, 1e-8, 1e-10}) {
    const Matrix<dim> F = I + size * H, exact_H = F - I;
    const Eigen::VectorXd h = flat<dim>(exact_H);
    const double quadratic = 0.5 * h.dot(linear * h);
    const double allowed = 40.0 * size + (Example<Law>::rounded ? 1e-15 / size : 1e-13);
    EXPECT_NEAR(Law::energy_density(F, p) / quadratic, 1.0, allowed) << size;
  }
}

TYPED_TEST(Laws, InvertedAndDegenerateInputIsHandledAsStated) {
  using Law = TypeParam;
  constexpr int dim = Law::dimension;
  const auto p = Example<Law>::parameters;
  Tangent<dim> A;
  Matrix<dim> mirrored = Matrix<dim>::Identity(), flat_F = Matrix<dim>::Identity();
  mirrored(0, 0) = -1.0;
  flat_F(0, 0) = 0.0;
  for (const Matrix<dim>& F :
       {mirrored, flat_F, Matrix<dim>(Matrix<dim>::Zero()), Matrix<dim>(Matrix<dim>::Ones())}) {
    if constexpr (Law::resists_inversion) {
      if (F.determinant() <= 0.0) {
        EXPECT_EQ(Law::energy_density(F, p), std::numeric_limits<double>::infinity());
      }
    } else {
      Law::tangent(F, p, A);
      EXPECT_TRUE(std::isfinite(Law::energy_density(F, p)));
      EXPECT_TRUE(Law::first_piola(F, p).allFinite());
      EXPECT_TRUE(A.allFinite());
    }
  }
  // Valid F of any size and shape: never NaN.
  std::mt19937 generator(41);
  std::uniform_real_distribution<double> exponent(-6.0, 4.0);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    Eigen::Matrix<double, dim, 1> stretches;
    for (auto& s : stretches)
      s = std::pow(10.0, repeat % 4 == 0 ? std::round(exponent(generator)) : exponent(generator));
    const Matrix<dim> F =
        repeat % 3 == 0 ? Matrix<dim>(stretches.asDiagonal()) : with_stretches<dim>(stretches, generator);
    if (F.determinant() <= 0.0) continue;
    Law::tangent(F, p, A);
    EXPECT_TRUE(std::isfinite(Law::energy_density(F, p))) << F;
    EXPECT_GE(Law::energy_density(F, p), -1e-9 * F.squaredNorm()) << F;
    EXPECT_TRUE(Law::first_piola(F, p).allFinite()) << F;
    EXPECT_TRUE(A.allFinite()) << F;
    for (const auto& derivative : Law::stress_derivatives(F, p)) EXPECT_TRUE(derivative.allFinite()) << F;
    if (this->HasFailure()) return;
  }
}

TEST(MooneyRivlin, SecondInvariantIsInertIn2DOnly) {
  std::mt19937 generator(43);
  const Matrix<2> F = with_stretches<2>({1.4, 0.6}, generator);
  EXPECT_EQ(MooneyRivlin<2>::energy_density(F, {0.7, 0.4, 3.0}),
            MooneyRivlin<2>::energy_density(F, {0.7, 9.0, 3.0}));
  EXPECT_EQ(MooneyRivlin<2>::stress_derivatives(F, {0.7, 0.4, 3.0})[1].norm(), 0.0);
  const Matrix<3> G = with_stretches<3>({1.4, 0.6, 1.1}, generator);
  EXPECT_GT(MooneyRivlin<3>::stress_derivatives(G, {0.7, 0.4, 3.0})[1].norm(), 0.1);
}

// The formula of the scenes, written out: B = F F^T J^(-2/d).
TEST(MooneyRivlin, EnergyIsTheFormulaOfTheScenes) {
  const auto check = [](const auto& F, double c1, double c2, double k) {
    constexpr int dim = std::decay_t<decltype(F)>::RowsAtCompileTime;
    const double J = F.determinant();
    const Matrix<dim> B = F * F.transpose() * std::pow(J, -2.0 / dim);
    const double I1 = B.trace(), I2 = 0.5 * (I1 * I1 - (B * B).trace()), I2_rest = dim == 3 ? 3.0 : 1.0;
    const double W = c1 * (I1 - dim) + c2 * (I2 - I2_rest) + 0.5 * k * std::log(J) * std::log(J);
    EXPECT_NEAR((MooneyRivlin<dim>::energy_density(F, {c1, c2, k})), W, 1e-13 * (1.0 + W));
  };
  for (const auto& sample : samples<2>(false)) check(sample.F, 0.7, 0.4, 3.0);
  for (const auto& sample : samples<3>(false)) check(sample.F, 0.7, 0.4, 3.0);
}

TEST(NeoHookean, UniaxialEnergyByHand) {
  const Matrix<3> F = Eigen::Vector3d(2.0, 1.0, 1.0).asDiagonal();
  EXPECT_NEAR((NeoHookean<3>::energy_density(F, {3.0, 5.0})),
              2.5 * (3.0 - 2.0 * std::log(2.0)) + 1.5 * std::log(2.0) * std::log(2.0), 1e-14);
  const Matrix<3> P = NeoHookean<3>::first_piola(F, {3.0, 5.0});
  EXPECT_NEAR(P(0, 0), 5.0 * 1.5 + 1.5 * std::log(2.0), 1e-14);
  EXPECT_NEAR(P(1, 1), 3.0 * std::log(2.0), 1e-14);
}

namespace {

template <int dim>
using Ogden = UnconstrainedOgden<dim>;

/// Terms that an entry of a scene with `count` terms leaves out are without effect.
template <int dim>
typename Ogden<dim>::Parameters first_terms(std::size_t count) {
  auto p = Example<Ogden<dim>>::parameters;
  for (std::size_t k = count; k < 6; ++k)
    for (std::size_t list = 0; list < 3; ++list) p[6 * list + k] = Ogden<dim>::constants[list].absent;
  return p;
}

/// Each derivative, of its term alone: beside the largest terms the others would not be seen.
template <int dim>
void check_ogden_parameters() {
  using Law = Ogden<dim>;
  const auto p = Example<Law>::parameters;
  for (const auto& sample : samples<dim>(false)) {
    if (sample.kind != "moderate") continue;
    const auto stresses = Law::stress_derivatives(sample.F, p);
    const auto energies = Law::energy_derivatives(sample.F, p);
    for (std::size_t k = 0; k < p.size(); ++k) {
      auto q = first_terms<dim>(0);
      for (std::size_t list = 0; list < 3; ++list)
        if (list == k / 6 || (list < 2 && k < 12)) q[6 * list + k % 6] = p[6 * list + k % 6];
      const auto with = [&](const Eigen::VectorXd& x) {
        auto changed = q;
        changed[k] = x[0];
        return changed;
      };
      const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, p[k]);
      const double scale = k < 12 ? 1 : p[k];
      EXPECT_LT(jacobian_error([&](const auto& x) { return flat<dim>(Law::first_piola(sample.F, with(x))); },
                               at, flat<dim>(stresses[k]), scale),
                1e-8)
          << k << " " << sample.kind;
      EXPECT_LT(gradient_error([&](const auto& x) { return Law::energy_density(sample.F, with(x)); }, at,
                               Eigen::VectorXd::Constant(1, energies[k]), scale),
                1e-8)
          << k << " " << sample.kind;
      EXPECT_GT(stresses[k].norm(), 0);
    }
  }
}

/// Stretches that are equal, or differ by less and less.
template <int dim>
void check_ogden_at_equal_stretches(std::initializer_list<Eigen::Matrix<double, dim, 1>> directions) {
  using Law = Ogden<dim>;
  const auto p = Example<Law>::parameters;
  std::mt19937 generator(47);
  for (const double stretch : {1.0, 0.6, 1.7})
    for (const auto& direction : directions) {
      const Matrix<dim> U = random_rotation<dim>(generator), V = random_rotation<dim>(generator);
      Tangent<dim> at_gap_zero = Tangent<dim>::Zero(), A;
      for (const double gap : {0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3}) {
        SCOPED_TRACE(gap);
        const Eigen::Matrix<double, dim, 1> stretches = stretch * (1.0 + gap * direction.array()).matrix();
        const Matrix<dim> F = U * stretches.asDiagonal() * V.transpose();
        Law::tangent(F, p, A);
        EXPECT_LT(
            jacobian_error(
                [&](const Eigen::VectorXd& x) { return flat<dim>(Law::first_piola(unflat<dim>(x), p)); },
                flat<dim>(F), A),
            1e-8);
        if (gap == 0.0) at_gap_zero = A;
        EXPECT_LT((A - at_gap_zero).norm(), (100.0 * gap + 1e-13) * A.norm());
      }
    }
}

// The formula of PolyFEM written out, for any number of terms.
template <int dim>
void check_ogden_formula() {
  for (const std::size_t count : {1, 2, 6})
    for (const auto& sample : samples<dim>(false)) {
      const auto p = first_terms<dim>(count);
      const Eigen::VectorXd stretches = Eigen::JacobiSVD<Eigen::MatrixXd>(sample.F).singularValues();
      const double J = sample.F.determinant();
      double W = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const double mu = p[k], alpha = p[6 + k], D = p[12 + k];
        W +=
            2 * mu / (alpha * alpha) * ((stretches * std::pow(J, -1.0 / dim)).array().pow(alpha).sum() - dim);
        W += std::pow(J - 1, 2.0 * static_cast<double>(k + 1)) / D;
      }
      EXPECT_NEAR(Ogden<dim>::energy_density(sample.F, p), W, 1e-12 / sample.scale * (1 + W)) << sample.kind;
    }
}

} // namespace

TEST(UnconstrainedOgden, EnergyIsTheFormulaOfTheScenes) {
  check_ogden_formula<2>();
  check_ogden_formula<3>();
}

TEST(UnconstrainedOgden, EveryParameterByItself) {
  check_ogden_parameters<2>();
  check_ogden_parameters<3>();
}

TEST(UnconstrainedOgden, EqualStretches) {
  check_ogden_at_equal_stretches<2>({{1, 0}, {1, -1}});
  check_ogden_at_equal_stretches<3>({{1, 0, 0}, {1, -1, 0}, {1, 0.3, -1}, {0, 0, 0}});
}

// alpha = 2: W = mu/2 (J^(-2/d) F:F - d).
TEST(UnconstrainedOgden, WithTheExponentTwoIsNeoHookeanWithoutVolume) {
  for (const auto& sample : samples<3>(false)) {
    Ogden<3>::Parameters p = first_terms<3>(0);
    p[0] = 0.7;
    p[6] = 2;
    const double trace = std::pow(sample.F.determinant(), -2.0 / 3) * sample.F.squaredNorm();
    EXPECT_NEAR(Ogden<3>::energy_density(sample.F, p), 0.35 * (trace - 3), 1e-12 * (1 + trace));
    EXPECT_LT(
        (Ogden<3>::first_piola(sample.F, p) - MooneyRivlin<3>::first_piola(sample.F, {0.35, 0, 0})).norm(),
        1e-11 / (sample.scale * sample.scale));
  }
}

// The limit of small exponents is mu sum (ln lambda - ln J / d)^2.
TEST(UnconstrainedOgden, SmallExponentsHaveALimit) {
  for (const auto& sample : samples<3>(false)) {
    Ogden<3>::Parameters p = first_terms<3>(0);
    p[0] = 0.7;
    Tangent<3> limit, near;
    Ogden<3>::tangent(sample.F, p, limit);
    const Matrix<3> P = Ogden<3>::first_piola(sample.F, p);
    p[6] = 1e-9;
    Ogden<3>::tangent(sample.F, p, near);
    EXPECT_LT((Ogden<3>::first_piola(sample.F, p) - P).norm(), 1e-7 * P.norm());
    EXPECT_LT((near - limit).norm(), 1e-7 * limit.norm());
  }
}
