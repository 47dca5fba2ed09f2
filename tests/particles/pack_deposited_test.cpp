#include <cmath>
#include <numbers>
#include <numeric>

#include "particles/support.hpp"
#include "recoil/particles/packing.hpp"

namespace recoil::particles {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Deposition equal_spheres(double radius, double friction) {
  Deposition deposition;
  deposition.min_radius = deposition.max_radius = radius;
  deposition.friction = friction;
  deposition.seed = 1;
  return deposition;
}

double porosity_of(const ParticleSet& set, double volume) {
  double solid = 0;
  for (const double radius : set.radii) solid += 4 * std::numbers::pi / 3 * std::pow(radius, 3);
  return 1 - solid / volume;
}

void expect_small_overlaps(const ParticleSet& set, const ClosedSurface& surface) {
  for (std::size_t i = 0; i < set.positions.size(); ++i) {
    EXPECT_LE(surface.signed_distance(set.positions[i]), -set.radii[i] * (1 - 2 * deposition_overlap - 1e-9));
    for (std::size_t j = i + 1; j < set.positions.size(); ++j)
      EXPECT_GE((set.positions[i] - set.positions[j]).norm(),
                (set.radii[i] + set.radii[j]) * (1 - deposition_overlap - 1e-9));
  }
}

/// Contacts of each sphere, and how many of its own it has below its centre, along -z.
struct Contacts {
  std::vector<int> all, below;
};

Contacts contacts_in_box(const ParticleSet& set, const Eigen::AlignedBox3d& box) {
  Contacts contacts{std::vector<int>(set.radii.size(), 0), std::vector<int>(set.radii.size(), 0)};
  for (const auto& [i, j] : bond_neighbours(set, 1e-9)) {
    ++contacts.all[std::size_t(i)];
    ++contacts.all[std::size_t(j)];
    ++contacts
          .below[std::size_t(set.positions[std::size_t(i)].z() > set.positions[std::size_t(j)].z() ? i : j)];
  }
  for (std::size_t i = 0; i < set.radii.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      contacts.all[i] += set.positions[i][k] - set.radii[i] < box.min()[k];
      contacts.all[i] += set.positions[i][k] + set.radii[i] > box.max()[k];
      if (k == 2) contacts.below[i] += set.positions[i][k] - set.radii[i] < box.min()[k];
    }
  return contacts;
}

TEST(PackDeposited, FillsABoxWithSpheresThatLieOnOthers) {
  const Eigen::Vector3d size(5, 5, 4);
  const ClosedSurface box = box_surface(size);
  const ParticleSet set = pack_deposited(box, equal_spheres(0.5, 0.5));
  check(set, "test");
  expect_small_overlaps(set, box);
  const Contacts contacts = contacts_in_box(set, box.box());
  const auto count = [&](const std::vector<int>& of, int least) {
    return std::ranges::count_if(of, [&](int number) { return number < least; });
  };
  EXPECT_EQ(count(contacts.below, 1), 0);
  EXPECT_LE(count(contacts.all, 3), std::ssize(set.radii) / 20); // two and friction hold some
  double highest = 0;
  for (const Eigen::Vector3d& position : set.positions) highest = std::max(highest, position.z());
  EXPECT_GT(highest, size.z() / 2 - 1); // the top is where no sphere finds room
  EXPECT_NEAR(std::accumulate(set.volumes.begin(), set.volumes.end(), 0.0), size.prod(), 1e-9);
}

TEST(PackDeposited, IsLooserWithFriction) {
  const ClosedSurface box = box_surface({7.3, 7.3, 6.4});
  const Eigen::Vector3d inner(2.1, 2.1, 1.6);
  const auto porosity_inside = [&](double friction) {
    return 1 - fraction_in(pack_deposited(box, equal_spheres(0.5, friction)), {-inner, inner});
  };
  const double smooth = porosity_inside(0), rough = porosity_inside(1);
  EXPECT_NEAR(smooth, 0.37, 0.02); // random close packing
  EXPECT_GT(rough, smooth + 0.03);
}

TEST(PackDeposited, LowersFrictionUntilAPorosityIsReached) {
  const Eigen::Vector3d size(7.3, 7.3, 6.4);
  const ClosedSurface box = box_surface(size);
  Deposition deposition = equal_spheres(0.5, 1);
  const double loosest = porosity_of(pack_deposited(box, deposition), size.prod());
  deposition.porosity = loosest - 0.03;
  const ParticleSet set = pack_deposited(box, deposition);
  expect_small_overlaps(set, box);
  EXPECT_NEAR(porosity_of(set, size.prod()), *deposition.porosity, 1e-12);
  EXPECT_NEAR(set.radii[0], 0.5, 0.005);
}

TEST(PackDeposited, SettlesAlongGravityInATurnedBodyOfDifferentSpheres) {
  const LShape shape{some_rotation(), {0.3, -2, 5}};
  const ClosedSurface surface = shape.surface();
  Deposition deposition = equal_spheres(0.14, 0.5);
  deposition.max_radius = 0.18;
  deposition.down = {3, 0, 0};
  const ParticleSet set = pack_deposited(surface, deposition), again = pack_deposited(surface, deposition);
  check(set, "test");
  expect_small_overlaps(set, surface);
  EXPECT_EQ(set.positions, again.positions);
  EXPECT_EQ(set.radii, again.radii);
  for (std::size_t i = 0; i < set.positions.size(); ++i) {
    const Eigen::Vector3d further = set.positions[i] + Eigen::Vector3d(0.1 * set.radii[i], 0, 0);
    bool is_held = surface.signed_distance(further) > -set.radii[i];
    for (std::size_t j = 0; j < set.positions.size(); ++j)
      is_held = is_held || (j != i && (further - set.positions[j]).norm() < set.radii[i] + set.radii[j]);
    EXPECT_TRUE(is_held) << i;
  }
}

TEST(PackDeposited, RefusesWhatSpheresDoNotReach) {
  const ClosedSurface box = box_surface({4, 4, 3});
  const auto refused = [&](auto change) {
    Deposition deposition = equal_spheres(0.5, 0.5);
    change(deposition);
    return message_of([&] { pack_deposited(box, deposition); });
  };
  EXPECT_THAT(refused([](Deposition& of) { of.porosity = 0.3; }),
              AllOf(HasSubstr("jam at a porosity of 0."), HasSubstr("take at least that")));
  EXPECT_THAT(refused([](Deposition& of) { of.porosity = 0.7; }),
              AllOf(HasSubstr("0.7 is looser"), HasSubstr("`friction`")));
  EXPECT_THAT(refused([](Deposition& of) { of.friction = -0.1; }), HasSubstr("must not be negative"));
  EXPECT_THAT(refused([](Deposition& of) { of.down.setZero(); }), HasSubstr("no direction"));
  EXPECT_THAT(refused([](Deposition& of) { of.min_radius = of.max_radius = 1.6; }),
              HasSubstr("no particle fits: radius 1.6 m"));
}

} // namespace

} // namespace recoil::particles
