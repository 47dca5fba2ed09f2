#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "elastic_box.hpp"
#include "linalg/aggregates.hpp"
#include "linalg/preconditioned_solver.hpp"

namespace recoil::aggregates_test {
namespace {

using linalg::Aggregates;
using linalg::EliminationGraph;

/// Nodes of a cubic lattice with n along each edge, each coupled to those that differ by one step along some
/// axes, all in the same direction, as on Kuhn's tetrahedra; in the order of `numbers`.
EliminationGraph lattice(idx_t n, const std::vector<idx_t>& numbers) {
  std::vector<linalg::Coupling> couplings;
  const auto at = [&](idx_t i, idx_t j, idx_t k) { return numbers[i + n * (j + n * k)]; };
  for (idx_t k = 0; k < n; ++k)
    for (idx_t j = 0; j < n; ++j)
      for (idx_t i = 0; i < n; ++i)
        for (int corner = 1; corner < 8; ++corner) {
          const std::array<idx_t, 3> other{i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2 & 1)};
          if (std::ranges::max(other) < n)
            couplings.push_back({at(i, j, k), at(other[0], other[1], other[2])});
        }
  return linalg::make_graph(n * n * n, couplings);
}

std::vector<idx_t> ascending(idx_t count) {
  std::vector<idx_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<idx_t> sizes(const Aggregates& aggregates) {
  std::vector<idx_t> result(aggregates.count, 0);
  for (const idx_t aggregate : aggregates.of_node) ++result.at(aggregate);
  return result;
}

/// Components of the graph without the couplings between aggregates.
idx_t num_pieces(const EliminationGraph& graph, const Aggregates& aggregates) {
  std::vector<char> seen(graph.num_nodes(), 0);
  idx_t count = 0;
  for (idx_t seed = 0; seed < graph.num_nodes(); ++seed) {
    if (seen[seed]) continue;
    ++count;
    std::vector<idx_t> front{seed};
    seen[seed] = 1;
    while (!front.empty()) {
      const idx_t node = front.back();
      front.pop_back();
      for (idx_t k = graph.offsets[node]; k < graph.offsets[node + 1]; ++k) {
        const idx_t other = graph.neighbours[k];
        if (seen[other] || aggregates.of_node[other] != aggregates.of_node[node]) continue;
        seen[other] = 1;
        front.push_back(other);
      }
    }
  }
  return count;
}

/// Couplings within aggregates over all: the more, the more compact they are.
double share_inside(const EliminationGraph& graph, const Aggregates& aggregates) {
  double inside = 0;
  for (idx_t node = 0; node < graph.num_nodes(); ++node)
    for (idx_t k = graph.offsets[node]; k < graph.offsets[node + 1]; ++k)
      inside += aggregates.of_node[graph.neighbours[k]] == aggregates.of_node[node];
  return inside / static_cast<double>(graph.neighbours.size());
}

TEST(Aggregates, AreConnectedAndCompactWhateverTheNumbering) {
  constexpr idx_t n = 20;
  constexpr double size = 40;
  std::vector<idx_t> shuffled = ascending(n * n * n);
  std::ranges::shuffle(shuffled, std::mt19937(1));
  for (const auto& numbers : {ascending(n * n * n), shuffled}) {
    const EliminationGraph graph = lattice(n, numbers);
    const Aggregates aggregates = linalg::find_aggregates(graph, size);
    EXPECT_EQ(aggregates.count, std::lround(n * n * n / size));
    EXPECT_EQ(num_pieces(graph, aggregates), aggregates.count);
    EXPECT_GE(std::ranges::min(sizes(aggregates)), size / 8);
    EXPECT_LE(std::ranges::max(sizes(aggregates)), 3 * size);
    EXPECT_GE(share_inside(graph, aggregates), 0.59);
    EXPECT_EQ(linalg::find_aggregates(graph, size).of_node, aggregates.of_node);
  }
}

TEST(Aggregates, DoNotJoinWhatDoesNotCouple) {
  // Pairs (0, 1), (2, 3) .. and a chain of the rest.
  std::vector<linalg::Coupling> couplings;
  for (idx_t node = 0; node < 10; node += 2) couplings.push_back({node, node + 1});
  for (idx_t node = 10; node < 29; ++node) couplings.push_back({node, node + 1});
  const EliminationGraph graph = linalg::make_graph(30, couplings);
  const Aggregates aggregates = linalg::find_aggregates(graph, 10);
  EXPECT_EQ(num_pieces(graph, aggregates), aggregates.count);
  EXPECT_EQ(aggregates.count, 7); // five pairs, two thirds of the chain
}

TEST(Aggregates, OfFewNodes) {
  EXPECT_EQ(linalg::find_aggregates({}, 10).count, 0);
  EXPECT_EQ(linalg::find_aggregates(linalg::make_graph(1, {}), 10).of_node, std::vector<idx_t>{0});
  EXPECT_EQ(linalg::find_aggregates(linalg::make_graph(3, {}), 10).count, 3);
  const EliminationGraph graph = lattice(3, ascending(27));
  EXPECT_EQ(linalg::find_aggregates(graph, 100).count, 1);
  EXPECT_EQ(linalg::find_aggregates(graph, 1).count, 27);
}

/// Iterations of conjugate gradients to 1e-8 and unknowns of the level below the finest.
struct Solve {
  int iterations;
  PetscInt num_coarse;
};

class Solver : public linalg::PreconditionedSolver {
public:
  using PreconditionedSolver::PreconditionedSolver;
  PetscInt num_coarse() const {
    PetscInt levels = 0, rows = 0;
    KSP smoother = nullptr;
    Mat matrix = nullptr;
    RECOIL_PETSC(PCMGGetLevels(preconditioner_.get(), &levels));
    RECOIL_PETSC(PCMGGetSmoother(preconditioner_.get(), levels - 2, &smoother));
    RECOIL_PETSC(KSPGetOperators(smoother, nullptr, &matrix));
    RECOIL_PETSC(MatGetSize(matrix, &rows, nullptr));
    return rows;
  }
};

Solve solve(const parallel::Communicator& comm, const linalg::OptionList& options, int idle_rank = -1) {
  const testing::ElasticBox<3> box(comm, 14, idle_rank);
  linalg::BlockMatrix matrix(box.layout, box.graph);
  testing::assemble<3>(box, {}, matrix);
  Solver solver({box.layout, "recoil_", "contact_", options, nullptr}, linalg::LinearMethod::amg);
  solver.rebuild(matrix, box.modes(), nullptr);
  const linalg::Vector b = testing::weight(box, 1.0);
  linalg::Vector x(box.layout);
  const linalg::LinearResult result = solver.solve(b, x, 1e-8, 200);
  EXPECT_EQ(result.outcome, linalg::LinearOutcome::converged);
  return {result.iterations, solver.num_coarse()};
}

/// Aggregates of what each rank has of the nodes that are not clamped.
idx_t num_aggregates(const testing::ElasticBox<3>& box) {
  const auto& [offsets, neighbours] = *box.graph;
  std::vector<idx_t> numbers(box.layout->num_local(), -1);
  idx_t count = 0;
  for (LocalIndex node = 0; node < box.layout->num_owned; ++node)
    if (!box.constrained[3 * node]) numbers[node] = count++;
  std::vector<linalg::Coupling> couplings;
  for (LocalIndex node = 0; node < box.layout->num_owned; ++node)
    for (auto k = offsets[node]; k < offsets[node + 1]; ++k)
      if (const LocalIndex other = neighbours[k]; other < node && numbers[node] >= 0 && numbers[other] >= 0)
        couplings.push_back({numbers[node], numbers[other]});
  const idx_t own = linalg::find_aggregates(linalg::make_graph(count, couplings)).count;
  return static_cast<idx_t>(box.layout->comm->sum(GlobalIndex{own}));
}

TEST(Aggregates, AsManyIterationsOnAnyNumberOfRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Solve one = solve(alone, {}), all = solve(comm, {});
  EXPECT_LE(all.iterations, 1.1 * one.iterations + 1);
  if (comm.size() > 1) {
    EXPECT_LE(solve(comm, {}, comm.size() - 1).iterations, 1.1 * one.iterations + 1);
  }
  EXPECT_NEAR(static_cast<double>(all.num_coarse), 6 * num_aggregates(testing::ElasticBox<3>(comm, 14)), 6);
}

TEST(Aggregates, UsersChooseHowPetscCoarsens) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  linalg::insert_options("-users_pc_gamg_aggressive_coarsening 0");
  const testing::ElasticBox<3> box(comm, 10);
  linalg::BlockMatrix matrix(box.layout, box.graph);
  testing::assemble<3>(box, {}, matrix);
  Solver solver({box.layout, "users_", "contact_", linalg::user_options("users_"), nullptr},
                linalg::LinearMethod::amg);
  solver.rebuild(matrix, box.modes(), nullptr);
  // A node in four or five is the root of one.
  EXPECT_GE(solver.num_coarse(), 6 * 10 * 11 * 11 / 8);
}

} // namespace
} // namespace recoil::aggregates_test
