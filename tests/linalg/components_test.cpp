#include "recoil/linalg/components.hpp"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "recoil/base/union_find.hpp"

namespace recoil::linalg::components_test {

using Edge = std::array<GlobalIndex, 2>;

/// The part of a graph of `size` vertices that a rank holds: its block of them, and what its edges reach.
struct Share {
  std::shared_ptr<VectorLayout> layout = std::make_shared<VectorLayout>();
  std::vector<GlobalIndex> ids;
  std::vector<std::array<LocalIndex, 2>> edges;

  Share(const parallel::Communicator& comm, GlobalIndex size, const std::vector<Edge>& graph) {
    const GlobalIndex begin = size * comm.rank() / comm.size(), end = size * (comm.rank() + 1) / comm.size();
    layout->comm = &comm;
    layout->num_owned = static_cast<LocalIndex>(end - begin);
    layout->offset = begin;
    layout->num_global = size;
    const auto is_owned = [&](GlobalIndex vertex) { return vertex >= begin && vertex < end; };
    std::set<GlobalIndex> ghosts;
    for (const auto& [a, b] : graph)
      if (is_owned(a) != is_owned(b)) ghosts.insert(is_owned(a) ? b : a);
    layout->ghosts.assign(ghosts.begin(), ghosts.end());
    std::map<GlobalIndex, LocalIndex> local;
    for (GlobalIndex vertex = begin; vertex < end; ++vertex) local[vertex] = std::ssize(local);
    for (const GlobalIndex vertex : ghosts) local[vertex] = std::ssize(local);
    ids.resize(local.size());
    // Ids that run against the numbers of the layout.
    for (const auto& [vertex, k] : local) ids[k] = size - 1 - vertex;
    for (const auto& [a, b] : graph)
      if (is_owned(a) || is_owned(b)) edges.push_back({local.at(a), local.at(b)});
  }
};

void expect_components(GlobalIndex size, const std::vector<Edge>& graph) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Share share(comm, size, graph);
  UnionFind<GlobalIndex> sets(size);
  for (const auto& [a, b] : graph) sets.unite(size - 1 - a, size - 1 - b);
  const auto found = smallest_ids_of_components(share.layout, share.ids, share.edges);
  ASSERT_EQ(found.size(), share.ids.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_EQ(found[k], sets.root(share.ids[k]));
}

TEST(Components, OfAChainThatCrossesRanksBackAndForth) {
  // 0 - n/2 - 1 - n/2 + 1 - ..: every edge leads to another part of the ranks.
  constexpr GlobalIndex size = 40;
  std::vector<Edge> chain;
  for (GlobalIndex k = 0; k < size / 2; ++k) {
    chain.push_back({k, k + size / 2});
    if (k + 1 < size / 2) chain.push_back({k + size / 2, k + 1});
  }
  expect_components(size, chain);
}

TEST(Components, OfRandomGraphsEqualThoseOfOneRank) {
  std::mt19937 random(5);
  for (const GlobalIndex size : {1, 2, 3, 30, 200})
    for (const double density : {0.2, 0.5, 1.0}) {
      std::vector<Edge> graph;
      std::uniform_int_distribution<GlobalIndex> any(0, size - 1);
      for (int k = 0; k < density * double(size); ++k) graph.push_back({any(random), any(random)});
      expect_components(size, graph);
    }
}

TEST(Components, OfAGraphWithoutEdgesAreItsVertices) { expect_components(5, {}); }

} // namespace recoil::linalg::components_test
