#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "linalg/method_choice.hpp"
#include "recoil/base/log.hpp"

namespace recoil::method_choice_test {
namespace {

using linalg::EliminationGraph;
using linalg::LinearMethod;
using linalg::NodeGraph;
using linalg::StencilMatrix;
using linalg::VectorLayout;

/// Nodes on a grid, each coupled to the nodes around it, in equal shares over the ranks.
struct Grid {
  std::array<GlobalIndex, 3> size;
  std::shared_ptr<VectorLayout> layout = std::make_shared<VectorLayout>();
  std::shared_ptr<NodeGraph> graph = std::make_shared<NodeGraph>();

  Grid(const parallel::Communicator& comm, int dim, std::array<GlobalIndex, 3> size_) : size(size_) {
    const GlobalIndex count = size[0] * size[1] * size[2], rank = comm.rank(), ranks = comm.size();
    layout->comm = &comm;
    layout->block_size = dim;
    layout->num_global = count;
    layout->offset = count * rank / ranks;
    layout->num_owned = static_cast<LocalIndex>(count * (rank + 1) / ranks - layout->offset);
    graph->offsets.push_back(0);
    for (GlobalIndex node = layout->offset; node < layout->offset + layout->num_owned; ++node) {
      for (const GlobalIndex other : around(node)) graph->neighbours.push_back(local(other));
      graph->offsets.push_back(static_cast<std::int64_t>(graph->neighbours.size()));
    }
  }

  std::vector<GlobalIndex> around(GlobalIndex node) const {
    const GlobalIndex x = node % size[0], y = node / size[0] % size[1], z = node / size[0] / size[1];
    std::vector<GlobalIndex> nodes;
    for (GlobalIndex k = std::max<GlobalIndex>(z - 1, 0); k <= std::min(z + 1, size[2] - 1); ++k)
      for (GlobalIndex j = std::max<GlobalIndex>(y - 1, 0); j <= std::min(y + 1, size[1] - 1); ++j)
        for (GlobalIndex i = std::max<GlobalIndex>(x - 1, 0); i <= std::min(x + 1, size[0] - 1); ++i)
          nodes.push_back(i + size[0] * (j + size[1] * k));
    return nodes;
  }

  LocalIndex local(GlobalIndex node) {
    if (node >= layout->offset && node < layout->offset + layout->num_owned)
      return static_cast<LocalIndex>(node - layout->offset);
    const auto found = std::ranges::find(layout->ghosts, node);
    const auto place = static_cast<LocalIndex>(found - layout->ghosts.begin());
    if (found == layout->ghosts.end()) layout->ghosts.push_back(node);
    return layout->num_owned + place;
  }

  EliminationGraph gathered() const { return linalg::gather_graph(*layout, *graph); }
};

/// Groups of nodes that all couple with each other.
EliminationGraph cliques(idx_t groups, idx_t size) {
  EliminationGraph graph;
  for (idx_t node = 0; node < groups * size; ++node) {
    for (idx_t other = node / size * size; other < (node / size + 1) * size; ++other)
      if (other != node) graph.neighbours.push_back(other);
    graph.offsets.push_back(static_cast<idx_t>(graph.neighbours.size()));
  }
  return graph;
}

TEST(FactorizationWork, OfDenseBlocksIsTheSumOfSquares) {
  for (const idx_t size : {1, 2, 7, 40}) {
    const double one = size * (size + 1.0) * (2.0 * size + 1) / 6;
    EXPECT_EQ(linalg::factorization_work(cliques(1, size), 1), one) << size;
    EXPECT_EQ(linalg::factorization_work(cliques(5, size), 1), 5 * one) << size;
    EXPECT_EQ(linalg::factorization_work(cliques(5, size), 3), 27 * 5 * one) << size;
  }
  EXPECT_EQ(linalg::factorization_work(EliminationGraph{}, 3), 0);
}

/// Eliminates node after node, by definition: its later neighbours become neighbours of each other.
double work_by_definition(const EliminationGraph& graph, const std::vector<idx_t>& places) {
  const auto count = static_cast<std::size_t>(graph.num_nodes());
  std::vector<std::vector<char>> coupled(count, std::vector<char>(count, 0));
  for (std::size_t node = 0; node < count; ++node)
    for (idx_t k = graph.offsets[node]; k < graph.offsets[node + 1]; ++k)
      coupled[static_cast<std::size_t>(places[node])][static_cast<std::size_t>(
          places[static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(k)])])] = 1;
  double sum = 0;
  for (std::size_t pivot = 0; pivot < count; ++pivot) {
    std::vector<std::size_t> later;
    for (std::size_t row = pivot + 1; row < count; ++row)
      if (coupled[row][pivot] != 0) later.push_back(row);
    for (const std::size_t row : later)
      for (const std::size_t column : later) coupled[row][column] = 1;
    const double height = 1 + static_cast<double>(later.size());
    sum += height * height;
  }
  return sum;
}

TEST(FactorizationWork, IsThatOfEliminationInAnyOrder) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const EliminationGraph graph = Grid(comm, 3, {7, 6, 5}).gathered();
  if (comm.rank() != 0) return;
  std::vector<idx_t> places = linalg::nested_dissection(graph);
  const double nested = linalg::factorization_work(graph, places, 1);
  EXPECT_EQ(nested, work_by_definition(graph, places));
  EXPECT_EQ(nested, linalg::factorization_work(graph, 1));
  std::mt19937 random(3);
  for (int k = 0; k < 5; ++k) {
    std::ranges::shuffle(places, random);
    const double shuffled = linalg::factorization_work(graph, places, 1);
    EXPECT_EQ(shuffled, work_by_definition(graph, places));
    EXPECT_GT(shuffled, nested);
  }
}

/// Nested dissection: N^(3/2) in the plane, N^2 in space [George 1973].
TEST(FactorizationWork, GrowsAsNestedDissectionTells) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto growth = [&](std::array<GlobalIndex, 3> small, std::array<GlobalIndex, 3> large) {
    const EliminationGraph a = Grid(comm, 1, small).gathered(), b = Grid(comm, 1, large).gathered();
    return comm.rank() == 0 ? linalg::factorization_work(b, 1) / linalg::factorization_work(a, 1) : 0;
  };
  const double plane = growth({40, 40, 1}, {80, 80, 1}), space = growth({10, 10, 10}, {20, 20, 20});
  if (comm.rank() != 0) return;
  EXPECT_GT(plane, 6);
  EXPECT_LT(plane, 12);
  EXPECT_GT(space, 45);
  EXPECT_LT(space, 110);
}

TEST(FactorizationWork, TakesThePartBetweenSomeNodes) {
  const EliminationGraph graph = cliques(3, 10);
  const std::vector<GlobalIndex> nodes{0, 3, 9, 10, 29};
  const EliminationGraph part = linalg::restrict_to(graph, nodes);
  EXPECT_EQ(part.offsets, (std::vector<idx_t>{0, 2, 4, 6, 6, 6}));
  EXPECT_EQ(part.neighbours, (std::vector<idx_t>{1, 2, 0, 2, 0, 1}));
}

TEST(JoinNodes, GrowsConnectedGroupsOverNeighbours) {
  EliminationGraph chain;
  for (idx_t node = 0; node < 20; ++node) {
    if (node > 0) chain.neighbours.push_back(node - 1);
    if (node < 19) chain.neighbours.push_back(node + 1);
    chain.end_row();
  }
  const linalg::QuotientGraph thirds = linalg::join_nodes(chain, 8);
  EXPECT_EQ(thirds.widths, (std::vector<idx_t>{1, 1, 1}));
  EXPECT_EQ(thirds.graph.offsets, (std::vector<idx_t>{0, 1, 3, 4}));
  EXPECT_EQ(thirds.graph.neighbours, (std::vector<idx_t>{1, 0, 2, 1}));
  const linalg::QuotientGraph same = linalg::join_nodes(chain, 1);
  EXPECT_EQ(same.graph.offsets, chain.offsets);
  EXPECT_EQ(same.graph.neighbours, chain.neighbours);
  // Groups end where nothing is left that couples.
  const linalg::QuotientGraph apart = linalg::join_nodes(cliques(3, 5), 8);
  EXPECT_EQ(apart.widths, (std::vector<idx_t>{5, 5, 5}));
  EXPECT_TRUE(apart.graph.neighbours.empty());
  EXPECT_EQ(linalg::join_nodes({}, 8).graph.num_nodes(), 0);
}

/// Two pieces of a strip, three nodes wide.
TEST(JoinNodes, GroupsAreAsWideAsWhereTheyMeet) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const EliminationGraph strip = Grid(comm, 1, {3, 6, 1}).gathered();
  if (comm.rank() != 0) return;
  EXPECT_EQ(linalg::join_nodes(strip, 9).widths, (std::vector<idx_t>{3, 3}));
  EXPECT_EQ(linalg::join_nodes(strip, 17).widths, (std::vector<idx_t>{3, 1}));
  EXPECT_EQ(linalg::join_nodes(strip, 18).widths, (std::vector<idx_t>{18}));
}

TEST(JoinNodes, WorkOfDenseBlocksStays) {
  for (const idx_t most : {1, 2, 3, 8, 100})
    EXPECT_EQ(linalg::factorization_work(linalg::join_nodes(cliques(5, 20), most), 3),
              linalg::factorization_work(cliques(5, 20), 3))
        << most;
  EXPECT_EQ(linalg::factorization_work(linalg::QuotientGraph{}, 3), 0);
}

/// What the choice of the method counts on, whatever the shape and the numbers of nodes.
TEST(FactorizationWork, IsBoundedByThatOfGroups) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  using Size = std::array<GlobalIndex, 3>;
  const auto compare = [&](const Size& size, double least_share) {
    const EliminationGraph graph = Grid(comm, 1, size).gathered();
    if (comm.rank() != 0) return;
    std::mt19937 random(5);
    std::vector<GlobalIndex> order(graph.num_nodes());
    std::iota(order.begin(), order.end(), 0);
    for (const bool shuffles : {false, true}) {
      if (shuffles) std::ranges::shuffle(order, random);
      EliminationGraph numbered;
      std::vector<idx_t> places(order.size());
      for (std::size_t k = 0; k < order.size(); ++k) places[order[k]] = static_cast<idx_t>(k);
      for (const GlobalIndex node : order) {
        for (idx_t k = graph.offsets[node]; k < graph.offsets[node + 1]; ++k)
          numbered.neighbours.push_back(places[graph.neighbours[k]]);
        numbered.end_row();
      }
      const double share =
          linalg::least_factorization_work(numbered, 1) / linalg::factorization_work(numbered, 1);
      EXPECT_GT(share, least_share) << ::testing::PrintToString(size);
      EXPECT_LT(share, 0.3) << ::testing::PrintToString(size);
    }
  };
  for (const Size size : {Size{4000, 1, 1}, Size{1500, 2, 1}, Size{900, 3, 3}}) compare(size, 0);
  for (const Size size : {Size{70, 70, 1}, Size{50, 50, 2}, Size{35, 35, 6}, Size{17, 17, 17}})
    compare(size, 0.004);
}

/// Random points in the unit cube that couple within `radius`.
EliminationGraph random_points(idx_t count, double radius) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> coordinate(0, 1);
  std::vector<std::array<double, 3>> points(static_cast<std::size_t>(count));
  for (auto& point : points) std::ranges::generate(point, [&] { return coordinate(random); });
  std::vector<linalg::Coupling> couplings;
  for (idx_t a = 0; a < count; ++a)
    for (idx_t b = 0; b < a; ++b) {
      const auto &p = points[static_cast<std::size_t>(a)], &q = points[static_cast<std::size_t>(b)];
      if (std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) < radius) couplings.push_back({a, b});
    }
  return linalg::make_graph(count, couplings);
}

/// 40 and 10 neighbours on the mean, and one for ten nodes, as where nearly all bonds are broken.
TEST(FactorizationWork, IsBoundedByThatOfGroupsOfRandomPoints) {
  for (const double radius : {0.146, 0.092, 0.02}) {
    const EliminationGraph graph = random_points(3000, radius);
    const double share = linalg::least_factorization_work(graph, 1) / linalg::factorization_work(graph, 1);
    EXPECT_GT(share, 0.004) << radius;
    EXPECT_LE(share, 1) << radius;
  }
}

TEST(FactorizationWork, GathersTheSameGraphFromAnyRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Grid grid(comm, 2, {6, 5, 4});
  const EliminationGraph graph = grid.gathered();
  if (comm.rank() != 0) {
    EXPECT_EQ(graph.num_nodes(), 0);
    return;
  }
  ASSERT_EQ(graph.num_nodes(), 120);
  for (idx_t node = 0; node < 120; ++node) {
    std::vector<GlobalIndex> expected = grid.around(node);
    std::erase(expected, node);
    const std::vector<GlobalIndex> found(
        graph.neighbours.begin() + graph.offsets[static_cast<std::size_t>(node)],
        graph.neighbours.begin() + graph.offsets[static_cast<std::size_t>(node) + 1]);
    EXPECT_EQ(found, expected) << node;
  }
}

TEST(MethodChoice, IsDirectForSmallSystems) {
  for (const int dim : {2, 3})
    for (const int ranks : {1, 2, 64}) {
      EXPECT_TRUE(linalg::is_below_crossover(dim, 500, ranks));
      EXPECT_FALSE(linalg::is_below_crossover(dim, 10'000'000, ranks));
    }
  EXPECT_TRUE(linalg::is_below_crossover(2, 40000, 1));
  EXPECT_FALSE(linalg::is_below_crossover(2, 40000, 24));
  EXPECT_FALSE(linalg::is_below_crossover(3, 40000, 1));
}

TEST(MethodChoice, TurnsToFactorsWhereMultigridTakesVeryLong) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto faster = [&](std::array<GlobalIndex, 3> size, std::initializer_list<int> iterations) {
    const Grid grid(comm, 3, size);
    linalg::MethodChoice choice(grid.layout, grid.layout->block_size);
    EXPECT_FALSE(choice.factors_faster_than(100000)) << "not weighed";
    EXPECT_EQ(choice(grid.graph, nullptr), LinearMethod::amg);
    std::vector<bool> result;
    for (const int count : iterations) result.push_back(choice.factors_faster_than(count));
    return result;
  };
  EXPECT_EQ(faster({16, 16, 16}, {20, 5000}), (std::vector{false, true}));
  EXPECT_EQ(faster({35, 35, 35}, {20, 5000}), (std::vector{false, false})) << "fills too much";
}

/// Nested dissection of all nodes of a thick body takes longer than anything else at the start of a run.
TEST(MethodChoice, DissectsNoThickBody) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto dissects = [&](std::array<GlobalIndex, 3> size, int iterations) {
    const Grid grid(comm, 3, size);
    linalg::MethodChoice choice(grid.layout, grid.layout->block_size);
    initialize_log({.rank = comm.rank(), .level = LogLevel::debug});
    ::testing::internal::CaptureStdout();
    choice(grid.graph, nullptr);
    choice.factors_faster_than(iterations);
    const std::string log = ::testing::internal::GetCapturedStdout();
    initialize_log({.rank = comm.rank()});
    const auto has = [&](const char* text) { return comm.any(log.find(text) != std::string::npos); };
    EXPECT_TRUE(has("at least=")) << "not weighed at all";
    return has(" all=");
  };
  EXPECT_FALSE(dissects({44, 44, 44}, 20));
  // Here the bound leaves it open whether factors would have been faster.
  EXPECT_TRUE(dissects({35, 35, 35}, 5000));
  EXPECT_TRUE(dissects({1500, 3, 3}, 20));
}

TEST(MethodChoice, IsDirectForSlenderBodies) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto choose = [&](int dim, std::array<GlobalIndex, 3> size) {
    const Grid grid(comm, dim, size);
    return linalg::MethodChoice(grid.layout, grid.layout->block_size)(grid.graph, nullptr);
  };
  EXPECT_EQ(choose(3, {1500, 3, 3}), LinearMethod::direct);
  EXPECT_EQ(choose(3, {24, 24, 24}), LinearMethod::amg);
}

/// Where nearly all nodes are in contact, the sandwich would factor nearly all and iterate besides.
TEST(MethodChoice, WeighsTheContactBlock) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Grid grid(comm, 3, {20, 20, 20});
  const auto contact_of = [&](GlobalIndex share) {
    StencilMatrix contact(grid.layout);
    contact.begin();
    std::array<double, 36> block{};
    for (std::size_t i = 0; i < 6; ++i) block[7 * i] = 1;
    const GlobalIndex begin = grid.layout->offset, end = begin + grid.layout->num_owned;
    for (GlobalIndex node = begin; node + 1 < end && node + 1 < grid.layout->num_global / share; node += 2)
      contact.add(std::array<GlobalIndex, 2>{node, node + 1}, block.data(), 6);
    contact.finish();
    return contact;
  };
  linalg::MethodChoice choice(grid.layout, grid.layout->block_size);
  const StencilMatrix none = contact_of(100000), few = contact_of(20), half = contact_of(2),
                      all = contact_of(1);
  EXPECT_EQ(choice(grid.graph, nullptr), LinearMethod::amg);
  EXPECT_EQ(choice(grid.graph, &none), LinearMethod::amg);
  EXPECT_EQ(choice(grid.graph, &few), LinearMethod::amg);
  EXPECT_EQ(choice(grid.graph, &half), LinearMethod::amg);
  EXPECT_EQ(choice(grid.graph, &all), LinearMethod::direct);
}

} // namespace
} // namespace recoil::method_choice_test
