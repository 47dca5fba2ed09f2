#include <numbers>

#include <Eigen/Eigenvalues>

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

// Sums over the bonds of packed particles, without the relaxation inside of cells that fcc does not need: the
// rotation stays zero by symmetry.
TEST(EffectiveModuli, OfFccAreSumsOverBonds) {
  const double poisson = 0.2, radius = 0.5;
  ParticleSet set = pack_lattice(box_surface({4, 4, 4}), {LatticeKind::fcc, radius}, Inside::centre);
  const double stretch = std::numbers::pi * radius / 2, shear = stretch / (2 * (1 + poisson));
  const std::vector<Eigen::Vector3d>& points = set.positions;
  const auto middle = std::ranges::min_element(points, {}, [](const auto& p) { return p.norm(); });
  ASSERT_LT(middle->norm(), 1e-12);
  const Stiffness stiffness = effective_stiffness(LatticeKind::fcc, 1, poisson);
  Eigen::Vector<double, 6> strain;
  strain << 1, -0.3, 0.2, 0.7, -0.4, 0.9;
  Eigen::Matrix3d tensor;
  tensor << strain[0], strain[5] / 2, strain[4] / 2, strain[5] / 2, strain[1], strain[3] / 2, strain[4] / 2,
      strain[3] / 2, strain[2];
  double energy = 0;
  int neighbours = 0;
  for (const Eigen::Vector3d& point : points) {
    const double length = (point - *middle).norm();
    if (length < 1e-9 || length > 2 * radius * (1 + 1e-9)) continue;
    ++neighbours;
    const Eigen::Vector3d n = (point - *middle) / length, d = length * tensor * n;
    energy += 0.25 * (stretch * std::pow(n.dot(d), 2) + shear * (d - n.dot(d) * n).squaredNorm());
  }
  EXPECT_EQ(neighbours, 12);
  EXPECT_NEAR(0.5 * strain.dot(stiffness * strain), energy / lattice_cell_volume(radius), 1e-12);
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
}

} // namespace

} // namespace recoil::particles
