#include "recoil/particles/fragments.hpp"

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

/// Fragments of `set` without the bonds `broken`, and of every particle the number of its own; the same on
/// every rank.
std::pair<std::vector<Fragment>, std::vector<GlobalIndex>> fragments_of(const ParticleSet& set,
                                                                        const std::vector<char>& broken) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const DistributedParticles particles = distribute(comm, comm.rank() == 0 ? set : ParticleSet{});
  std::vector<char> flags;
  for (const auto& bond : particles.bonds) flags.push_back(broken[std::size_t(bond.id)]);
  const Fragments found = find_fragments(particles, flags);
  std::vector<double> numbers(set.positions.size(), 0.0);
  for (std::size_t k = 0; k < found.of_owned.size(); ++k)
    numbers[std::size_t(particles.ids[k])] = found.of_owned[k];
  comm.sum(numbers);
  return {found.all, {numbers.begin(), numbers.end()}};
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

TEST(Fragments, RandomGraphsAgreeWithASearch) {
  std::mt19937 generator(11);
  for (const int num_bonds : {0, 60, 110, 200}) {
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
    const auto [all, numbers] = fragments_of(graph(count, bonds), broken);
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

TEST(Fragments, RanksMayOwnNothing) {
  const auto [all, numbers] = fragments_of(graph(2, {{0, 1}}), {0});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].particles, 2);
  EXPECT_THAT(numbers, testing::ElementsAre(0, 0));
  EXPECT_EQ(fragments_of(graph(2, {{0, 1}}), {1}).first.size(), 2u);
}

} // namespace

} // namespace recoil::particles
