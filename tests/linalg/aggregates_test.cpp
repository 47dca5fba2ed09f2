#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "elastic_box.hpp"
#include "linalg/aggregates.hpp"
#include "linalg/gamg_products.hpp"
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

/// Iterations of conjugate gradients to 1e-8 with smoothed aggregation of `matrix`, whose coarse levels are
/// formed by BlockTripleProduct or by PETSc; -1 if they do not converge.
PetscInt num_iterations(const parallel::Communicator& comm, Mat matrix, Vec b, bool by_blocks = true) {
  linalg::KspHandle solver;
  RECOIL_PETSC(KSPCreate(comm.get(), solver.put()));
  PC preconditioner = nullptr;
  RECOIL_PETSC(KSPGetPC(solver.get(), &preconditioner));
  RECOIL_PETSC(KSPSetType(solver.get(), KSPCG));
  RECOIL_PETSC(KSPSetOperators(solver.get(), matrix, matrix));
  RECOIL_PETSC(KSPSetTolerances(solver.get(), 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  RECOIL_PETSC(PCSetType(preconditioner, PCGAMG));
  linalg::use_compact_aggregates(preconditioner);
  if (by_blocks) linalg::use_block_products(preconditioner);
  linalg::VecHandle x;
  RECOIL_PETSC(VecDuplicate(b, x.put()));
  RECOIL_PETSC(KSPSolve(solver.get(), b, x.get()));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  RECOIL_PETSC(KSPGetConvergedReason(solver.get(), &reason));
  RECOIL_PETSC(KSPGetIterationNumber(solver.get(), &iterations));
  return reason > 0 ? iterations : -1;
}

/// The nodes of a rank, but some single ones, far from each other, that are the next rank's.
std::vector<PetscInt> nodes_with_islands(const testing::ElasticBox<3>& box) {
  const parallel::Communicator& comm = *box.layout->comm;
  const auto is_island = [&](GlobalIndex node) {
    const GlobalIndex in_layer = node % box.layer_size(), layer = node / box.layer_size();
    const GlobalIndex i = in_layer % (box.divisions + 1), j = in_layer / (box.divisions + 1);
    return i % 4 == 2 && j % 4 == 2 && layer % 4 == 2;
  };
  const std::vector<GlobalIndex> offsets = comm.all_gather(box.layout->offset);
  std::vector<PetscInt> nodes;
  for (GlobalIndex node = 0; node < box.layout->num_global; ++node) {
    const auto owner = std::ranges::upper_bound(offsets, node) - offsets.begin() - 1;
    if ((owner + (is_island(node) ? 1 : 0)) % comm.size() == comm.rank()) nodes.push_back(node);
  }
  return nodes;
}

// Nodes alone have fewer components than there are rigid motions, whose columns of the interpolation are
// linearly dependent.
TEST(Aggregates, AsManyIterationsWithIslandsInThePartition) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::ElasticBox<3> box(comm, 12);
  linalg::BlockMatrix matrix(box.layout, box.graph);
  testing::assemble<3>(box, {}, matrix);
  const linalg::Vector b = testing::weight(box, 1.0);
  const std::vector<PetscInt> nodes = nodes_with_islands(box);
  IS rows = nullptr;
  RECOIL_PETSC(ISCreateBlock(comm.get(), 3, static_cast<PetscInt>(nodes.size()), nodes.data(),
                             PETSC_COPY_VALUES, &rows));
  linalg::MatHandle moved;
  RECOIL_PETSC(MatCreateSubMatrix(matrix.get(), rows, rows, MAT_INITIAL_MATRIX, moved.put()));
  RECOIL_PETSC(MatSetBlockSize(moved.get(), 3));
  const auto at_moved = [&](Vec vec, auto act) {
    Vec part = nullptr;
    RECOIL_PETSC(VecGetSubVector(vec, rows, &part));
    RECOIL_PETSC(VecSetBlockSize(part, 3));
    act(part);
    RECOIL_PETSC(VecRestoreSubVector(vec, rows, &part));
  };
  const linalg::NearNullSpace modes = box.modes()();
  RECOIL_PETSC(MatSetNearNullSpace(matrix.get(), modes.get()));
  const PetscInt whole = num_iterations(comm, matrix.get(), b.get());

  PetscInt count = 0;
  const Vec* vectors = nullptr;
  RECOIL_PETSC(MatNullSpaceGetVecs(modes.get(), nullptr, &count, &vectors));
  std::vector<linalg::VecHandle> moved_modes(count);
  std::vector<Vec> moved_vectors;
  for (PetscInt k = 0; k < count; ++k)
    at_moved(vectors[k], [&](Vec part) {
      RECOIL_PETSC(VecDuplicate(part, moved_modes[k].put()));
      RECOIL_PETSC(VecCopy(part, moved_modes[k].get()));
      moved_vectors.push_back(moved_modes[k].get());
    });
  MatNullSpace space = nullptr;
  RECOIL_PETSC(MatNullSpaceCreate(comm.get(), PETSC_FALSE, count, moved_vectors.data(), &space));
  RECOIL_PETSC(MatSetNearNullSpace(moved.get(), space));
  RECOIL_PETSC(MatNullSpaceDestroy(&space));
  at_moved(b.get(), [&](Vec part) {
    for (const bool by_blocks : {true, false}) {
      const PetscInt iterations = num_iterations(comm, moved.get(), part, by_blocks);
      EXPECT_GT(iterations, 0);
      EXPECT_LE(iterations, whole + 2);
    }
  });
  RECOIL_PETSC(ISDestroy(&rows));
}

// Row `lonely` has no entry but its diagonal, where the row before has one that leads to it.
TEST(Aggregates, CouplingsOfOneSideOnlyAreLeftOut) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr PetscInt num_rows = 200, lonely = 100;
  const PetscInt offset = num_rows * comm.rank(), last = num_rows * comm.size() - 1;
  std::vector<PetscInt> starts{0}, columns;
  std::vector<PetscScalar> values;
  for (PetscInt row = offset; row < offset + num_rows; ++row) {
    const PetscInt local = row - offset;
    for (const PetscInt column : {row - 1, row, row + 1}) {
      const bool is_taken = column == row ||
                            (column >= 0 && column <= last && local != lonely && column != offset + lonely) ||
                            (local == lonely - 1 && column == row + 1);
      if (!is_taken) continue;
      columns.push_back(column);
      values.push_back(column == row ? 2.5 : -1);
    }
    starts.push_back(static_cast<PetscInt>(columns.size()));
  }
  linalg::MatHandle matrix;
  RECOIL_PETSC(MatCreateMPIAIJWithArrays(comm.get(), num_rows, num_rows, PETSC_DETERMINE, PETSC_DETERMINE,
                                         starts.data(), columns.data(), values.data(), matrix.put()));
  PC preconditioner = nullptr;
  RECOIL_PETSC(PCCreate(comm.get(), &preconditioner));
  RECOIL_PETSC(PCSetType(preconditioner, PCGAMG));
  RECOIL_PETSC(PCSetOperators(preconditioner, matrix.get(), matrix.get()));
  linalg::use_compact_aggregates(preconditioner);
  RECOIL_PETSC(PCSetUp(preconditioner));
  PetscInt levels = 0;
  RECOIL_PETSC(PCMGGetLevels(preconditioner, &levels));
  EXPECT_GE(levels, 2);
  linalg::VecHandle b, x;
  RECOIL_PETSC(MatCreateVecs(matrix.get(), x.put(), b.put()));
  RECOIL_PETSC(VecSet(b.get(), 1));
  RECOIL_PETSC(PCApply(preconditioner, b.get(), x.get()));
  PetscReal norm = 0;
  RECOIL_PETSC(VecNorm(x.get(), NORM_INFINITY, &norm));
  EXPECT_GT(norm, 0.1);
  EXPECT_LT(norm, 10);
  RECOIL_PETSC(PCDestroy(&preconditioner));
}

} // namespace
} // namespace recoil::aggregates_test
