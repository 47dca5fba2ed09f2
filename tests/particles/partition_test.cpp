#include "recoil/particles/partition.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

namespace recoil::particles {

namespace {

constexpr int length = 60, width = 3;

/// A bar of a simple cubic lattice, particles along x first.
PartitionGraph bar() {
  PartitionGraph graph;
  const auto number = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return i + length * (j + width * k);
  };
  for (int k = 0; k < width; ++k)
    for (int j = 0; j < width; ++j)
      for (int i = 0; i < length; ++i) {
        graph.positions.emplace_back(i, j, k);
        if (i > 0) graph.bonds.push_back({number(i - 1, j, k), number(i, j, k)});
        if (j > 0) graph.bonds.push_back({number(i, j - 1, k), number(i, j, k)});
        if (k > 0) graph.bonds.push_back({number(i, j, k - 1), number(i, j, k)});
      }
  return graph;
}

std::vector<std::int64_t> loads(const PartitionGraph& graph, const std::vector<int>& parts, int num_parts) {
  std::vector<std::int64_t> sums(num_parts, 0);
  for (std::size_t k = 0; k < parts.size(); ++k) sums[parts[k]] += graph.work.empty() ? 1 : graph.work[k];
  return sums;
}

std::int64_t num_cut(const std::vector<std::array<std::int64_t, 2>>& pairs, const std::vector<int>& parts) {
  return std::ranges::count_if(pairs, [&](const auto& pair) { return parts[pair[0]] != parts[pair[1]]; });
}

TEST(Partition, IsEvenInWork) {
  PartitionGraph graph = bar();
  for (const Eigen::Vector3d& p : graph.positions) graph.work.push_back(p.x() < length / 3. ? 10 : 1);
  for (const int num_parts : {2, 3, 4}) {
    const std::vector<int> parts = partition(graph, num_parts);
    EXPECT_LT(imbalance(loads(graph, parts, num_parts)), 1.1) << num_parts;
    EXPECT_EQ(parts, partition(graph, num_parts)) << "the same again";
    // Equal numbers of particles are not.
    const PartitionGraph equal{graph.positions, {}, graph.bonds, {}};
    EXPECT_GT(imbalance(loads(graph, partition(equal, num_parts), num_parts)), 1.3) << num_parts;
  }
}

// Broken bonds are no edges: the cut goes where the bar has come apart.
TEST(Partition, CutsWhereNothingHolds) {
  PartitionGraph graph = bar();
  const auto crosses = [&](const auto& bond) {
    return graph.positions[bond[0]].x() == 29 && graph.positions[bond[1]].x() == 30;
  };
  std::erase_if(graph.bonds, crosses);
  EXPECT_EQ(num_cut(graph.bonds, partition(graph, 2)), 0);
}

// Two pairs of grains, each of which touches, in an order that does not tell.
TEST(Partition, KeepsContactsTogether) {
  PartitionGraph graph;
  constexpr int num_pairs = 200;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < num_pairs; ++k) graph.positions.emplace_back(uniform(random), uniform(random), 0);
  for (int k = 0; k < num_pairs; ++k) {
    graph.positions.emplace_back(uniform(random), uniform(random), 0);
    graph.contacts.push_back({k, k + num_pairs});
  }
  const std::vector<int> parts = partition(graph, 2);
  EXPECT_LT(imbalance(loads(graph, parts, 2)), 1.1);
  EXPECT_LT(num_cut(graph.contacts, parts), num_pairs / 10);
}

TEST(Partition, LeavesPartsEmpty) {
  PartitionGraph graph;
  graph.positions.assign(2, Eigen::Vector3d::Zero());
  graph.bonds = {{0, 1}};
  graph.work = {5, 1};
  EXPECT_EQ(partition(graph, 3), (std::vector<int>{0, 1}));
}

TEST(Imbalance, IsTheLargestOverTheMean) {
  EXPECT_EQ(imbalance(std::vector<std::int64_t>{3, 1}), 1.5);
  EXPECT_EQ(imbalance(std::vector<std::int64_t>{4, 0, 0, 0}), 4);
  EXPECT_EQ(imbalance(std::vector<std::int64_t>{0, 0}), 1);
}

} // namespace

} // namespace recoil::particles
