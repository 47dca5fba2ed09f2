#include <numbers>

#include <Eigen/Dense>

#include "particles/support.hpp"
#include "recoil/particles/effective_moduli.hpp"

namespace recoil::particles {

namespace {

TEST(EffectiveModuli, AreThoseKnownOfHcp) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  const Stiffness stiffness = effective_stiffness(LatticeKind::hcp, 2e9, 0.3);
  EXPECT_NEAR(young_modulus(stiffness, x) / 2e9, 1.633, 0.005 * 1.633);
  EXPECT_NEAR(young_modulus(stiffness, z) / 2e9, 1.714, 0.005 * 1.714);
  EXPECT_NEAR(poisson_ratio(stiffness, x, y), 0.156, 0.0008);
  EXPECT_NEAR(poisson_ratio(stiffness, z, x), 0.114, 0.0006);
  // Isotropic across the layers' normal.
  EXPECT_NEAR(young_modulus(stiffness, (x + 0.4 * y).normalized()), young_modulus(stiffness, x), 10);
  EXPECT_NEAR(stiffness(5, 5), (stiffness(0, 0) - stiffness(0, 1)) / 2, 10);
}

TEST(EffectiveModuli, AreThoseKnownOfFcc) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), z = Eigen::Vector3d::UnitZ();
  const Stiffness stiffness = effective_stiffness(LatticeKind::fcc, 1, 0.3);
  EXPECT_NEAR(young_modulus(stiffness, x), 1.414, 0.005 * 1.414);
  EXPECT_NEAR(young_modulus(stiffness, x), young_modulus(stiffness, z), 1e-12);
}

// Under pressure every bond is stretched alike: 12 / 2 bonds per cell with 1/2 k_n (eps l0)^2.
TEST(EffectiveModuli, HaveTheBulkModulusOfStretchedBonds) {
  for (const LatticeKind kind : {LatticeKind::hcp, LatticeKind::fcc})
    for (const double poisson : {0.0, 0.4}) {
      const double bulk = effective_stiffness(kind, 1, poisson).topLeftCorner<3, 3>().sum() / 9;
      EXPECT_NEAR(bulk, std::numbers::pi / (3 * std::sqrt(2.0)), 1e-12);
    }
}

TEST(EffectiveModuli, OfAnIsotropicTensorAreItsOwn) {
  const double lambda = 3, mu = 2;
  Stiffness stiffness = Stiffness::Zero();
  stiffness.topLeftCorner<3, 3>().setConstant(lambda);
  stiffness.diagonal() << lambda + 2 * mu, lambda + 2 * mu, lambda + 2 * mu, mu, mu, mu;
  const auto [bulk, shear] = hill_moduli(stiffness);
  EXPECT_NEAR(bulk, lambda + 2 * mu / 3, 1e-14);
  EXPECT_NEAR(shear, mu, 1e-14);
}

// Of a cubic lattice [Hill 1952]: K = (C11 + 2 C12) / 3, bounds of G from C44 and C' = (C11 - C12) / 2.
TEST(EffectiveModuli, OfACubicLatticeHaveHillsMean) {
  const Stiffness stiffness = effective_stiffness(LatticeKind::fcc, 1, 0.3);
  const double c11 = stiffness(0, 0), c12 = stiffness(0, 1), c44 = stiffness(3, 3), c = (c11 - c12) / 2;
  const auto [bulk, shear] = hill_moduli(stiffness);
  EXPECT_NEAR(bulk, (c11 + 2 * c12) / 3, 1e-14);
  EXPECT_NEAR(shear, ((2 * c + 3 * c44) / 5 + 5 * c * c44 / (2 * c44 + 3 * c)) / 2, 1e-14);
  EXPECT_GT(std::abs(c44 / c - 1), 0.1);
}

TEST(EffectiveModuli, HaveTheDerivativeByPoissonsRatio) {
  for (const LatticeKind kind : {LatticeKind::hcp, LatticeKind::fcc})
    for (const Eigen::Vector3d& along : {Eigen::Vector3d(1, 0, 0), Eigen::Vector3d(0, 0, 1)})
      for (const auto& [poisson, kappa] : {std::pair(-0.3, 1.0), {0.0, 1.0}, {0.4, 1.0}, {0.3, 0.6}}) {
        const auto modulus = [&](double at) {
          return young_modulus(effective_stiffness(kind, 3, at, kappa), along);
        };
        const double h = 1e-3, difference = (8 * (modulus(poisson + h) - modulus(poisson - h)) -
                                             (modulus(poisson + 2 * h) - modulus(poisson - 2 * h))) /
                                            (12 * h);
        EXPECT_NEAR(young_modulus_by_poisson(kind, 3, poisson, along, kappa), difference, 1e-9);
      }
}

/// The matrix with a x b = cross(a) b.
Eigen::Matrix3d cross(const Eigen::Vector3d& a) {
  Eigen::Matrix3d matrix;
  matrix << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return matrix;
}

/// Half of the energy of the bonds of the particle at `centre`, of kind `kind`, as a quadratic form of
/// strain, displacement of the particles of kind 1 relative to kind 0, and the rotations of both kinds.
Eigen::Matrix<double, 15, 15> energy_around(const ParticleSet& set, const Eigen::Vector3d& centre, int kind,
                                            bool two_kinds, double poisson, double kappa) {
  const double radius = set.radii[0], stretch = std::numbers::pi * radius / 2,
               shear = kappa * stretch / (2 * (1 + poisson));
  Eigen::Matrix<double, 15, 15> form = Eigen::Matrix<double, 15, 15>::Zero();
  int neighbours = 0;
  for (const Eigen::Vector3d& point : set.positions) {
    const Eigen::Vector3d bond = point - centre;
    const double length = bond.norm();
    if (length < 1e-9 || length > 2 * radius * (1 + 1e-9)) continue;
    ++neighbours;
    const Eigen::Vector3d n = bond / length;
    const int other = two_kinds && std::abs(n.z()) > 0.1 ? 1 - kind : kind;
    Eigen::Matrix<double, 3, 15> relative = Eigen::Matrix<double, 3, 15>::Zero(), turned = relative;
    for (int k = 0; k < 3; ++k) relative(k, k) = bond[k];
    for (int k = 0; k < 3; ++k) {
      relative((k + 1) % 3, 3 + k) = bond[(k + 2) % 3] / 2;
      relative((k + 2) % 3, 3 + k) = bond[(k + 1) % 3] / 2;
    }
    relative.middleCols<3>(6) = (other - kind) * Eigen::Matrix3d::Identity();
    turned.middleCols<3>(9 + 3 * kind) -= cross(bond) / 2;
    turned.middleCols<3>(9 + 3 * other) -= cross(bond) / 2;
    const Eigen::Matrix3d along = n * n.transpose(), across = Eigen::Matrix3d::Identity() - along;
    const Eigen::Matrix<double, 3, 15> sheared = across * relative - turned;
    form += (stretch * relative.transpose() * along * relative + shear * sheared.transpose() * sheared) / 2;
  }
  EXPECT_EQ(neighbours, 12);
  return form;
}

// Particles of each kind are free to rotate by themselves here, and bonds are found, not known.
TEST(EffectiveModuli, AreThoseOfPackedParticles) {
  const double poisson = 0.2, kappa = 0.85;
  for (const LatticeKind kind : {LatticeKind::hcp, LatticeKind::fcc}) {
    const bool two_kinds = kind == LatticeKind::hcp;
    const ParticleSet set = pack_lattice(box_surface({5, 5, 5}), {kind, 0.5}, Inside::centre);
    const auto at_height = [&](double z) {
      return *std::ranges::min_element(
          set.positions, {}, [&](const Eigen::Vector3d& p) { return (p - Eigen::Vector3d(0, 0, z)).norm(); });
    };
    const Eigen::Vector3d first = at_height(0), second = at_height(std::sqrt(2.0 / 3));
    ASSERT_GT((first - second).norm(), 0.5);
    Eigen::Matrix<double, 15, 15> form =
        (energy_around(set, first, 0, two_kinds, poisson, kappa) +
         energy_around(set, second, two_kinds ? 1 : 0, two_kinds, poisson, kappa)) /
        (2 * lattice_cell_volume(0.5));
    const Eigen::Matrix<double, 9, 6> relaxed =
        form.bottomRightCorner<9, 9>().completeOrthogonalDecomposition().solve(form.bottomLeftCorner<9, 6>());
    const Stiffness expected = form.topLeftCorner<6, 6>() - form.topRightCorner<6, 9>() * relaxed;
    EXPECT_LT((effective_stiffness(kind, 1, poisson, kappa) - expected).norm(), 1e-10);
    EXPECT_LT(relaxed.bottomRows<6>().norm(), 1e-10) << "particles rotate";
  }
}

TEST(EffectiveModuli, ArePositiveForEveryPoissonRatio) {
  for (const LatticeKind kind : {LatticeKind::hcp, LatticeKind::fcc})
    for (const double poisson : {-0.9, 0.0, 0.5}) {
      const Stiffness stiffness = effective_stiffness(kind, 1, poisson);
      EXPECT_GT(Eigen::SelfAdjointEigenSolver<Stiffness>(stiffness).eigenvalues().minCoeff(), 0.1);
    }
}

TEST(EffectiveModuli, RefuseWrongConstants) {
  EXPECT_THROW(effective_stiffness(LatticeKind::hcp, 0, 0.3), InputError);
  EXPECT_THROW(effective_stiffness(LatticeKind::hcp, 1, -1), InputError);
  EXPECT_THROW(effective_stiffness(LatticeKind::hcp, 1, 0.6), InputError);
  EXPECT_THROW(effective_stiffness(LatticeKind::hcp, 1, 0.3, 0), InputError);
}

} // namespace

} // namespace recoil::particles
