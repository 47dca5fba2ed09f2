#include "recoil/particles/fragments.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recoil::particles {

namespace {

/// Particles that stand anywhere, with these bonds.
ParticleSet graph(int num_particles, std::vector<std::array<std::int64_t, 2>> bonds) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  ParticleSet set;
  set.body_names = {"body"};
  for (int i = 0; i < num_particles; ++i) {
    set.positions.emplace_back(uniform(generator), uniform(generator), uniform(generator));
    set.radii.push_back(0.1);
    set.volumes.push_back(1);
    set.body.push_back(0);
  }
  set.bonds = std::move(bonds);
  return set;
}

struct Fragment {
  GlobalIndex first = std::numeric_limits<GlobalIndex>::max(), particles = 0;
};

/// Fragments of `set` without the bonds `broken`, and of every particle the number of its own; the same on
/// every rank.
std::pair<std::vector<Fragment>, std::vector<GlobalIndex>>
fragments_of(const ParticleSet& set, const std::vector<char>& broken, const std::vector<int>& owners = {}) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const DistributedParticles particles =
      comm.rank() == 0 ? distribute(comm, set, owners) : distribute(comm, ParticleSet{});
  std::vector<char> flags;
  for (const auto& bond : particles.bonds) flags.push_back(broken[std::size_t(bond.id)]);
  const Fragments found = find_fragments(particles, flags);
  std::vector<double> numbers(set.positions.size(), 0.0), firsts(set.positions.size(), 0.0);
  for (std::size_t k = 0; k < found.of_owned.size(); ++k) {
    numbers[std::size_t(particles.ids[k])] = double(found.of_owned[k]);
    firsts[std::size_t(particles.ids[k])] = double(found.first_of_owned[k]);
  }
  comm.sum(numbers);
  comm.sum(firsts);
  std::vector<Fragment> all(std::size_t(found.count));
  for (std::size_t id = 0; id < numbers.size(); ++id) {
    Fragment& own = all.at(std::size_t(numbers[id]));
    own.first = std::min(own.first, GlobalIndex(id));
    EXPECT_EQ(firsts[id], double(own.first));
    ++own.particles;
  }
  EXPECT_EQ(found.larger, std::ranges::count_if(all, [](const Fragment& f) { return f.particles > 1; }));
  EXPECT_EQ(found.largest, all.front().particles);
  return {all, {numbers.begin(), numbers.end()}};
}

/// A chain whose particles are numbered at random, so that the smallest id has to wander far.
std::vector<GlobalIndex> shuffled(int count) {
  std::vector<GlobalIndex> ids(count);
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), std::mt19937(3));
  return ids;
}

TEST(Fragments, PiecesOfAChainBySize) {
  const int count = 300;
  const std::vector<GlobalIndex> ids = shuffled(count);
  std::vector<std::array<std::int64_t, 2>> bonds;
  for (int i = 0; i + 1 < count; ++i)
    bonds.push_back({std::min(ids[i], ids[i + 1]), std::max(ids[i], ids[i + 1])});
  std::ranges::sort(bonds);
  // Cut into 50, 150, 99 and 1.
  std::vector<char> broken(bonds.size(), 0);
  for (const int cut : {49, 199, 298}) {
    const std::array<std::int64_t, 2> bond{std::min(ids[cut], ids[cut + 1]),
                                           std::max(ids[cut], ids[cut + 1])};
    broken[std::ranges::find(bonds, bond) - bonds.begin()] = 1;
  }
  const auto [all, numbers] = fragments_of(graph(count, bonds), broken);
  ASSERT_EQ(all.size(), 4u);
  const std::array<std::array<int, 2>, 4> ranges{{{50, 200}, {200, 299}, {0, 50}, {299, 300}}};
  for (std::size_t f = 0; f < 4; ++f) {
    const auto [begin, end] = ranges[f];
    EXPECT_EQ(all[f].particles, end - begin);
    EXPECT_EQ(all[f].first, *std::min_element(ids.begin() + begin, ids.begin() + end));
    for (int i = begin; i < end; ++i) EXPECT_EQ(numbers[std::size_t(ids[i])], GlobalIndex(f)) << i;
  }
}

/// Owners of `count` particles in no order.
std::vector<int> scattered(int count) {
  std::mt19937 generator(5);
  std::uniform_int_distribution<int> any(0, parallel::Communicator(MPI_COMM_WORLD).size() - 1);
  std::vector<int> owners(count);
  for (int& owner : owners) owner = any(generator);
  return owners;
}

TEST(Fragments, RandomGraphsAgreeWithASearch) {
  std::mt19937 generator(11);
  for (const int num_bonds : {0, 30, 60, 60, 90, 110, 200}) {
    const int count = 120;
    std::uniform_int_distribution<std::int64_t> any(0, count - 1);
    std::vector<std::array<std::int64_t, 2>> bonds;
    for (int b = 0; b < num_bonds; ++b) {
      const std::int64_t i = any(generator), j = any(generator);
      if (i != j) bonds.push_back({std::min(i, j), std::max(i, j)});
    }
    std::ranges::sort(bonds);
    bonds.erase(std::unique(bonds.begin(), bonds.end()), bonds.end());
    std::vector<char> broken;
    for (std::size_t b = 0; b < bonds.size(); ++b) broken.push_back(b % 5 == 0 ? 1 : 0);
    std::vector<GlobalIndex> smallest(count);
    std::iota(smallest.begin(), smallest.end(), 0);
    for (int round = 0; round < count; ++round)
      for (std::size_t b = 0; b < bonds.size(); ++b)
        if (broken[b] == 0)
          smallest[bonds[b][0]] = smallest[bonds[b][1]] =
              std::min(smallest[bonds[b][0]], smallest[bonds[b][1]]);
    std::map<GlobalIndex, GlobalIndex> sizes;
    for (const GlobalIndex label : smallest) ++sizes[label];
    for (const std::vector<int>& owners :
         {std::vector<int>(), scattered(count), std::vector<int>(count, 0)}) {
      const auto [all, numbers] = fragments_of(graph(count, bonds), broken, owners);
      ASSERT_EQ(all.size(), sizes.size());
      for (std::size_t f = 0; f < all.size(); ++f) {
        EXPECT_EQ(all[f].particles, sizes.at(all[f].first));
        if (f == 0) continue;
        EXPECT_TRUE(all[f - 1].particles > all[f].particles ||
                    (all[f - 1].particles == all[f].particles && all[f - 1].first < all[f].first));
      }
      for (int i = 0; i < count; ++i)
        EXPECT_EQ(all[std::size_t(numbers[std::size_t(i)])].first, smallest[std::size_t(i)]);
    }
  }
}

TEST(Fragments, DustIsNumberedById) {
  const int count = 200;
  const auto [all, numbers] = fragments_of(graph(count, {}), {}, scattered(count));
  ASSERT_EQ(all.size(), 200u);
  for (int i = 0; i < count; ++i) EXPECT_EQ(numbers[std::size_t(i)], i);
}

TEST(Fragments, EquallyLargeOnesAreNumberedById) {
  // Eight of each size from 1 to 6, of which the first is the particle of that number in a block of 6 * 8.
  std::vector<std::array<std::int64_t, 2>> bonds;
  std::vector<GlobalIndex> expected(48);
  std::int64_t added = 48;
  for (std::int64_t i = 0; i < 48; ++i) {
    const std::int64_t size = 1 + i % 6;
    for (std::int64_t k = 1; k < size; ++k) bonds.push_back({i, added++});
    expected[std::size_t(i)] = (6 - size) * 8 + i / 6;
  }
  const auto [all, numbers] =
      fragments_of(graph(int(added), bonds), std::vector<char>(bonds.size(), 0), scattered(int(added)));
  ASSERT_EQ(all.size(), 48u);
  for (std::size_t i = 0; i < 48; ++i) EXPECT_EQ(numbers[i], expected[i]) << i;
}

TEST(Fragments, OnePiece) {
  const int count = 90;
  std::vector<std::array<std::int64_t, 2>> bonds;
  for (std::int64_t i = 0; i + 1 < count; ++i) bonds.push_back({i, i + 1});
  const auto [all, numbers] =
      fragments_of(graph(count, bonds), std::vector<char>(bonds.size(), 0), scattered(count));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].particles, count);
  EXPECT_THAT(numbers, testing::Each(0));
}

TEST(Fragments, RanksMayOwnNothing) {
  const auto [all, numbers] = fragments_of(graph(2, {{0, 1}}), {0});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].particles, 2);
  EXPECT_THAT(numbers, testing::ElementsAre(0, 0));
  EXPECT_EQ(fragments_of(graph(2, {{0, 1}}), {1}).first.size(), 2u);
}

} // namespace

} // namespace recoil::particles
