#include "particles/support.hpp"
#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

namespace {

using ::testing::HasSubstr;

ParticleSet random_set(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> radius(0.01, 0.06);
  ParticleSet set;
  set.body_names = {"a", "b"};
  const Eigen::AlignedBox3d box(Eigen::Vector3d(-1, 4, 0), Eigen::Vector3d(0, 4.6, 0.8));
  for (int i = 0; i < count; ++i) {
    set.positions.push_back(random_point(generator, box));
    set.radii.push_back(radius(generator));
    set.volumes.push_back(1);
    set.body.push_back(i % 3 == 0);
  }
  return set;
}

TEST(BondNeighbours, AreThoseOfBruteForce) {
  ParticleSet set = random_set(600, 3);
  // Far away from all others: memory must not go with the volume in between.
  set.positions[5] = {1e9, -1e9, 1e9};
  for (const double tolerance : {0.0, 0.3}) {
    std::vector<std::array<std::int64_t, 2>> expected;
    for (std::size_t i = 0; i < set.positions.size(); ++i)
      for (std::size_t j = i + 1; j < set.positions.size(); ++j)
        if (set.body[i] == set.body[j] &&
            (set.positions[i] - set.positions[j]).norm() <= (set.radii[i] + set.radii[j]) * (1 + tolerance))
          expected.push_back({static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
    ASSERT_GT(expected.size(), 100u);
    EXPECT_EQ(bond_neighbours(set, tolerance), expected);
  }
}

TEST(BondNeighbours, RefusesWrongTolerances) {
  EXPECT_THAT(message_of([] { bond_neighbours(random_set(2, 1), -0.1); }), HasSubstr("0 or more"));
  EXPECT_TRUE(bond_neighbours({}).empty());
}

TEST(ParticleSet, AppendsBodiesAndBonds) {
  ParticleSet set = random_set(100, 1), whole = set;
  set.bonds = bond_neighbours(set);
  whole = set;
  append(whole, set);
  check(whole, "test");
  EXPECT_EQ(whole.body_names.size(), 4u);
  EXPECT_EQ(whole.body[100], set.body[0] + 2);
  EXPECT_EQ(whole.bonds.size(), 2 * set.bonds.size());
  // The copy lies at the same places, but is of other bodies.
  EXPECT_EQ(bond_neighbours(whole), whole.bonds);
}

TEST(ParticleSet, IsChecked) {
  const auto message = [](const auto& spoil) {
    ParticleSet set = random_set(100, 1);
    set.bonds = bond_neighbours(set, 1);
    spoil(set);
    return message_of([&] { check(set, "sand"); });
  };
  EXPECT_THAT(message([](ParticleSet& set) { set.radii.pop_back(); }), HasSubstr("100 particles, 99 radii"));
  EXPECT_THAT(message([](ParticleSet& set) { set.radii[7] = 0; }),
              HasSubstr("sand: particle 7 has radius 0"));
  EXPECT_THAT(message([](ParticleSet& set) { set.volumes[7] = -1; }), HasSubstr("particle 7 has volume -1"));
  EXPECT_THAT(message([](ParticleSet& set) { set.body[7] = 2; }), HasSubstr("particle 7 is of body 2"));
  EXPECT_THAT(message([](ParticleSet& set) { set.positions[7].x() = NAN; }), HasSubstr("not finite"));
  EXPECT_THAT(message([](ParticleSet& set) { set.bonds[1] = {3, 100}; }), HasSubstr("bond 1 joins"));
  EXPECT_THAT(message([](ParticleSet& set) { set.bonds[1] = set.bonds[0]; }), HasSubstr("does not follow"));
  EXPECT_THAT(message([](ParticleSet& set) {
                set.positions[static_cast<std::size_t>(set.bonds[0][0])] =
                    set.positions[static_cast<std::size_t>(set.bonds[0][1])];
              }),
              HasSubstr("at one place"));
}

} // namespace

} // namespace recoil::particles
