#include <numbers>
#include <numeric>

#include "particles/support.hpp"
#include "recoil/particles/packing.hpp"

namespace recoil::particles {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// All lattice points within `reach` of the origin of the lattice, from primitive vectors.
std::vector<Eigen::Vector3d> points_of(const Lattice& lattice, double reach) {
  Eigen::Matrix3d primitive;
  std::vector<Eigen::Vector3d> basis{Eigen::Vector3d::Zero()};
  const double s3 = std::sqrt(3.0), s2 = std::sqrt(2.0), layer = 2 * std::sqrt(6.0) / 3;
  if (lattice.kind == LatticeKind::hcp) {
    primitive << 2, 1, 0, 0, s3, 0, 0, 0, 2 * layer;
    basis.emplace_back(1, s3 / 3, layer);
  } else {
    primitive << 0, s2, s2, s2, 0, s2, s2, s2, 0;
  }
  const int n = static_cast<int>(2 * reach / lattice.radius);
  std::vector<Eigen::Vector3d> points;
  for (int i = -n; i <= n; ++i)
    for (int j = -n; j <= n; ++j)
      for (int k = -n; k <= n; ++k)
        for (const Eigen::Vector3d& shift : basis) {
          const Eigen::Vector3d point = lattice.radius * (primitive * Eigen::Vector3d(i, j, k) + shift);
          if (point.norm() < reach) points.push_back(lattice.origin + lattice.rotation * point);
        }
  return points;
}

/// Compares two sets of points that are well apart from each other.
void expect_same_points(const std::vector<Eigen::Vector3d>& found,
                        const std::vector<Eigen::Vector3d>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (const Eigen::Vector3d& point : expected)
    EXPECT_TRUE(std::ranges::any_of(found, [&](const auto& p) { return (p - point).norm() < tolerance; }))
        << point.transpose();
}

class EveryLattice : public ::testing::TestWithParam<LatticeKind> {};
INSTANTIATE_TEST_SUITE_P(Lattices, EveryLattice, ::testing::Values(LatticeKind::hcp, LatticeKind::fcc));

TEST_P(EveryLattice, FillsARotatedLLikeBruteForce) {
  const LShape shape{some_rotation(), {0.3, -2, 5}};
  const ClosedSurface surface = shape.surface();
  Lattice lattice{GetParam(), 0.11};
  lattice.rotation = Eigen::AngleAxisd(1.1, Eigen::Vector3d(0.3, -1, 0.4).normalized()).toRotationMatrix();
  lattice.origin = surface.box().center() + Eigen::Vector3d(0.013, 0.027, -0.031);
  for (const Inside inside : {Inside::whole_sphere, Inside::centre}) {
    std::vector<Eigen::Vector3d> expected;
    for (const Eigen::Vector3d& point : points_of(lattice, 1.6))
      if (shape.signed_distance(point) < (inside == Inside::centre ? 0 : -lattice.radius))
        expected.push_back(point);
    ASSERT_GT(expected.size(), 100u);
    const ParticleSet set = pack_lattice(surface, lattice, inside);
    expect_same_points(set.positions, expected, 1e-9);
    check(set, "test");
    EXPECT_EQ(set.body_names, std::vector<std::string>{"ell"});
  }
}

TEST_P(EveryLattice, TurnsWithBodyAndLattice) {
  const LShape straight, turned{some_rotation(), {4, 5, 6}};
  Lattice lattice{GetParam(), 0.07};
  lattice.origin = {0.21, 0.33, 0.47};
  Lattice other = lattice;
  other.rotation = turned.rotation;
  other.origin = turned.rotation * lattice.origin + turned.shift;
  const ParticleSet a = pack_lattice(straight.surface(), lattice), b = pack_lattice(turned.surface(), other);
  ASSERT_EQ(a.positions.size(), b.positions.size());
  for (std::size_t i = 0; i < a.positions.size(); ++i)
    EXPECT_LT((turned.rotation * a.positions[i] + turned.shift - b.positions[i]).norm(), 1e-12);
}

TEST_P(EveryLattice, HasTwelveNeighboursInside) {
  const ClosedSurface surface = ball_surface(1, 6);
  const Lattice lattice{GetParam(), 0.09};
  ParticleSet set = pack_lattice(surface, lattice);
  set.bonds = bond_neighbours(set);
  check(set, "test");
  std::vector<int> neighbours(set.positions.size(), 0);
  for (const auto& bond : set.bonds) {
    EXPECT_NEAR(
        (set.positions[static_cast<std::size_t>(bond[1])] - set.positions[static_cast<std::size_t>(bond[0])])
            .norm(),
        2 * lattice.radius, 1e-12);
    for (const std::int64_t end : bond) ++neighbours[static_cast<std::size_t>(end)];
  }
  int interior = 0;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    EXPECT_LE(neighbours[i], 12);
    if (surface.is_closer(set.positions[i], 3 * lattice.radius)) continue;
    EXPECT_EQ(neighbours[i], 12);
    ++interior;
  }
  EXPECT_GT(interior, 200);
}

// In a box of whole orthogonal cells of four particles.
TEST_P(EveryLattice, FillsThreeQuartersOfSpace) {
  const double radius = 0.035;
  Eigen::Vector3d cell = Eigen::Vector3d::Constant(2 * std::sqrt(2.0) * radius);
  if (GetParam() == LatticeKind::hcp)
    cell = radius * Eigen::Vector3d(2, 2 * std::sqrt(3.0), 4 * std::sqrt(6.0) / 3);
  const ClosedSurface box = box_surface(5 * cell);
  Lattice lattice{GetParam(), radius};
  lattice.origin = 0.1 * cell;
  const ParticleSet set = pack_lattice(box, lattice, Inside::centre);
  EXPECT_EQ(set.positions.size(), 4u * 125);
  EXPECT_NEAR(std::accumulate(set.volumes.begin(), set.volumes.end(), 0.0) / box.volume(), 1, 1e-12);
  EXPECT_NEAR(4 * std::numbers::pi / 3 * std::pow(radius, 3) / set.volumes[0],
              std::numbers::pi / std::sqrt(18.0), 1e-12);
}

// Layers of 5 rows of 4 spheres, 3 layers: each sphere at the outside touches the box.
TEST(PackLattice, KeepsSpheresThatTouchTheSurface) {
  const double r = 0.1, row = std::sqrt(3.0) * r, layer = 2 * std::sqrt(6.0) / 3 * r;
  const Eigen::Vector3d size(2 * r * 4.5, 4 * row + 2 * r, 2 * layer + 2 * r);
  const ClosedSurface box = box_surface(size);
  Lattice lattice{LatticeKind::hcp, r};
  lattice.origin = box.box().min() + Eigen::Vector3d(r, r, r);
  // The layer between lies a third of a row further: its fifth row does not fit.
  EXPECT_EQ(pack_lattice(box, lattice).positions.size(), 5u * 4 + 4 * 4 + 5 * 4);
}

/// From the middle of the box around the surface to that of the particles.
Eigen::Vector3d off_middle(const ParticleSet& set, const ClosedSurface& surface) {
  Eigen::AlignedBox3d box;
  for (const Eigen::Vector3d& place : set.positions) box.extend(place);
  return box.center() - surface.box().center();
}

/// A box that no lattice fills has as much room on one side as on the other, and the particles that it had.
TEST_P(EveryLattice, LiesInTheMiddleOfABox) {
  const ClosedSurface box = box_surface({1.13, 0.77, 0.51});
  for (const double radius : {0.05, 0.063, 0.09})
    for (const Inside inside : {Inside::whole_sphere, Inside::centre}) {
      Lattice lattice{GetParam(), radius};
      lattice.origin = box.box().min() + Eigen::Vector3d::Constant(radius);
      const ParticleSet before = pack_lattice(box, lattice, inside),
                        set = pack_centred_lattice(box, lattice, inside);
      EXPECT_LT(off_middle(set, box).norm(), 1e-12);
      if (inside == Inside::centre) continue;
      EXPECT_GT(off_middle(before, box).norm(), 1e-3);
      ASSERT_EQ(set.positions.size(), before.positions.size());
      for (std::size_t k = 0; k < set.positions.size(); ++k)
        EXPECT_LT((set.positions[k] - before.positions[k] + off_middle(before, box)).norm(), 1e-12);
    }
}

TEST_P(EveryLattice, LiesNearTheMiddleOfABall) {
  const ClosedSurface ball = ball_surface(1, 6);
  for (const double radius : {0.09, 0.13}) {
    Lattice lattice{GetParam(), radius};
    lattice.origin = ball.box().min() + Eigen::Vector3d::Constant(radius);
    const double before = off_middle(pack_lattice(ball, lattice), ball).norm(),
                 now = off_middle(pack_centred_lattice(ball, lattice), ball).norm();
    EXPECT_LE(now, before);
    EXPECT_LT(now, 0.2 * radius);
  }
}

TEST(PackLattice, LeavesOutCentresOnTheSurface) {
  const double r = 0.1, place = 2 * std::sqrt(2.0) * r;
  const ClosedSurface box = box_surface(Eigen::Vector3d::Constant(2 * place));
  // Corners, edges and faces of the cubes lie on the surface: inside remain 1 corner, 6 + 6 faces.
  EXPECT_EQ(pack_lattice(box, {LatticeKind::fcc, r}, Inside::centre).positions.size(), 1u + 12);
}

TEST(PackLattice, RefusesWrongLattices) {
  const ClosedSurface box = box_surface({1, 2, 3});
  EXPECT_THAT(message_of([&] {
                pack_lattice(box, {LatticeKind::hcp, 0.6});
              }),
              AllOf(HasSubstr("body: no particle fits: radius 0.6 m"), HasSubstr("1 x 2 x 3 m"),
                    HasSubstr("smaller radius")));
  EXPECT_THAT(message_of([&] { pack_lattice(box, {LatticeKind::hcp, 0}); }), HasSubstr("must be positive"));
  EXPECT_THAT(message_of([&] { pack_lattice(box, {LatticeKind::fcc, 1e-5}); }), HasSubstr("more than 2^31"));
  Lattice mirrored{LatticeKind::hcp, 0.1};
  mirrored.rotation(2, 2) = -1;
  EXPECT_THAT(message_of([&] { pack_lattice(box, mirrored); }), HasSubstr("no rotation"));
}

} // namespace

} // namespace recoil::particles
