#include <numbers>
#include <numeric>

#include "particles/support.hpp"
#include "recoil/particles/packing.hpp"

namespace recoil::particles {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_no_overlap(const ParticleSet& set, const ClosedSurface& surface) {
  for (std::size_t i = 0; i < set.positions.size(); ++i) {
    EXPECT_LE(surface.signed_distance(set.positions[i]), -set.radii[i] * (1 - random_packing_overlap));
    for (std::size_t j = i + 1; j < set.positions.size(); ++j)
      EXPECT_GE((set.positions[i] - set.positions[j]).norm(),
                (set.radii[i] + set.radii[j]) * (1 - random_packing_overlap - 1e-12));
  }
}

TEST(PackRandom, JamsEqualSpheresInABox) {
  const double radius = 0.05;
  const ClosedSurface box = box_surface({1, 1, 1});
  const ParticleSet set = pack_random(box, {radius, radius, 1});
  check(set, "test");
  expect_no_overlap(set, box);
  const Eigen::Vector3d inner = Eigen::Vector3d::Constant(0.5 - 3 * radius);
  const double fraction = fraction_in(set, {-inner, inner});
  RecordProperty("fraction", std::to_string(fraction));
  EXPECT_GT(fraction, 0.6);
  EXPECT_LT(fraction, 0.7); // no crystal
  EXPECT_NEAR(std::accumulate(set.volumes.begin(), set.volumes.end(), 0.0), 1, 1e-12);
  // Jammed spheres touch about six others.
  const double bonds = static_cast<double>(bond_neighbours(set, 2e-3).size());
  EXPECT_GT(2 * bonds / static_cast<double>(set.positions.size()), 4);
}

TEST(PackRandom, FillsARotatedLWithDifferentSpheres) {
  const LShape shape{some_rotation(), {0.3, -2, 5}};
  const ClosedSurface surface = shape.surface();
  const ParticleSet set = pack_random(surface, {0.08, 0.14, 7});
  check(set, "test");
  expect_no_overlap(set, surface);
  const auto [least, most] = std::ranges::minmax(set.radii);
  EXPECT_GE(least, 0.08);
  EXPECT_LE(most, 0.14);
  EXPECT_GT(most - least, 0.04);
  double spheres = 0;
  for (std::size_t i = 0; i < set.radii.size(); ++i) {
    const double sphere = 4 * std::numbers::pi / 3 * std::pow(set.radii[i], 3);
    spheres += sphere;
    EXPECT_NEAR(set.volumes[i] / sphere,
                set.volumes[0] / (4 * std::numbers::pi / 3 * std::pow(set.radii[0], 3)), 1e-12);
  }
  EXPECT_GT(spheres / surface.volume(), 0.5); // less at the surface
  EXPECT_NEAR(std::accumulate(set.volumes.begin(), set.volumes.end(), 0.0), 3, 1e-12);
}

TEST(PackRandom, GivesTheSamePackingForTheSameSeed) {
  const ClosedSurface surface = ball_surface(1, 3);
  const ParticleSet a = pack_random(surface, {0.2, 0.25, 5}), b = pack_random(surface, {0.2, 0.25, 5}),
                    c = pack_random(surface, {0.2, 0.25, 6});
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.radii, b.radii);
  EXPECT_NE(a.positions, c.positions);
}

TEST(PackRandom, FillsAPlateOfOneLayer) {
  const ParticleSet set = pack_random(box_surface({1, 1, 0.1}), {0.05, 0.05, 3});
  EXPECT_GT(set.positions.size(), 60u);
  for (const Eigen::Vector3d& position : set.positions) EXPECT_LT(std::abs(position.z()), 1e-4);
}

TEST(PackRandom, RefusesWrongRadii) {
  const ClosedSurface box = box_surface({1, 2, 3});
  EXPECT_THAT(message_of([&] {
                pack_random(box, {0.51, 0.51});
              }),
              AllOf(HasSubstr("no particle fits: radius 0.51 m"), HasSubstr("1 x 2 x 3 m")));
  EXPECT_THAT(message_of([&] { pack_random(box, {0, 0.1}); }), HasSubstr("must be positive"));
  EXPECT_THAT(message_of([&] { pack_random(box, {0.2, 0.1}); }), HasSubstr("smallest must come first"));
  EXPECT_THAT(message_of([&] { pack_random(box, {1e-5, 0.1}); }), HasSubstr("more than 2^31"));
}

} // namespace

} // namespace recoil::particles
