#include "linalg/stiff_subset.hpp"

#include <bit>
#include <functional>

#include <gtest/gtest.h>

#include "linalg/stencils.hpp"

namespace recoil::stiff_subset_test {
namespace {

using linalg::Coupling;
using linalg::DissectedCholesky;
using linalg::StencilMatrix;
using linalg::StiffSubset;
using linalg::Vector;
using testing::Stencil;

int power_of_two_within(int number) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(number)));
}

/// A matrix of 2 x 2 blocks that is dominated by its diagonal, and who gives its blocks.
struct Given {
  idx_t num_nodes = 0;
  std::vector<Coupling> couplings;
  Eigen::MatrixXd dense;

  Given(idx_t count, const std::vector<std::pair<idx_t, idx_t>>& edges) : num_nodes(count) {
    std::mt19937 generator(5);
    std::uniform_real_distribution<double> value(-1, 1);
    dense = 9 * Eigen::MatrixXd::Identity(2 * count, 2 * count);
    for (idx_t node = 0; node < count; ++node) couplings.push_back({node, node});
    for (const auto& [a, b] : edges) {
      // In either order of the two.
      couplings.push_back(generator() % 2 == 0 ? Coupling{a, b} : Coupling{b, a});
      const Eigen::Matrix2d block = Eigen::Matrix2d::NullaryExpr([&] { return value(generator); });
      dense.block<2, 2>(2 * a, 2 * b) = block;
      dense.block<2, 2>(2 * b, 2 * a) = block.transpose();
    }
  }
};

/// A grid of `size` x `size` nodes.
Given grid(idx_t size) {
  std::vector<std::pair<idx_t, idx_t>> edges;
  for (idx_t i = 0; i < size; ++i)
    for (idx_t j = 0; j < size; ++j) {
      if (j + 1 < size) edges.emplace_back(i * size + j, i * size + j + 1);
      if (i + 1 < size) edges.emplace_back(i * size + j, (i + 1) * size + j);
    }
  return {size * size, edges};
}
Given apart(idx_t count) { return {count, {}}; }
/// Every node with each other.
Given clique(idx_t count) {
  std::vector<std::pair<idx_t, idx_t>> edges;
  for (idx_t a = 0; a < count; ++a)
    for (idx_t b = 0; b < a; ++b) edges.emplace_back(a, b);
  Given given(count, edges);
  given.dense.diagonal().array() += count;
  return given;
}

class DissectedCholeskyTest : public ::testing::Test {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};

  /// The first rank has no node; couplings are with any rank.
  LocalIndex num_owned(const Given& given) const {
    if (comm.size() == 1) return given.num_nodes;
    if (comm.rank() == 0) return 0;
    const idx_t workers = comm.size() - 1, worker = comm.rank() - 1;
    return given.num_nodes * (worker + 1) / workers - given.num_nodes * worker / workers;
  }
  std::vector<Coupling> own_couplings(const Given& given) const {
    std::vector<Coupling> own;
    for (const Coupling& coupling : given.couplings)
      if ((3 * coupling.row + coupling.column) % comm.size() == comm.rank()) own.push_back(coupling);
    return own;
  }
  DissectedCholesky make(const Given& given, int num_parts) const {
    return {comm, 2, num_owned(given), own_couplings(given), num_parts};
  }
  PetscErrorCode factor(DissectedCholesky& cholesky, const Given& given, double shift = 0) const {
    std::vector<double> blocks;
    for (const auto& [row, column] : own_couplings(given))
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          blocks.push_back(given.dense(2 * row + i, 2 * column + j) - (row == column && i == j ? shift : 0));
    return static_cast<PetscErrorCode>(comm.max(GlobalIndex{cholesky.factor(blocks)}));
  }
  std::vector<double> solve(const DissectedCholesky& cholesky, const Given& given) const {
    linalg::VecHandle x;
    const PetscInt size = 2 * num_owned(given);
    const auto first = static_cast<std::size_t>(comm.exclusive_scan(GlobalIndex{size}));
    std::vector<double> entries;
    for (PetscInt i = 0; i < size; ++i) entries.push_back(right(static_cast<Eigen::Index>(first) + i));
    RECOIL_PETSC(VecCreateMPIWithArray(comm.get(), 1, size, PETSC_DETERMINE, entries.data(), x.put()));
    RECOIL_PETSC(cholesky.solve(x.get()));
    return entries;
  }
  static double right(Eigen::Index i) { return std::sin(static_cast<double>(i) + 1); }
};

TEST_F(DissectedCholeskyTest, SolvesOnAnyNumberOfParts) {
  const auto given = {grid(30), grid(7), grid(1), apart(500), clique(70)};
  for (const Given& each : given) {
    const Eigen::VectorXd b =
        Eigen::VectorXd::NullaryExpr(2 * each.num_nodes, [](auto i) { return right(i); });
    const Eigen::VectorXd expected = each.dense.llt().solve(b);
    for (int num_parts = 1; num_parts <= comm.size(); num_parts *= 2) {
      DissectedCholesky cholesky = make(each, num_parts);
      for (int repeat = 0; repeat < 2; ++repeat) { // values anew
        ASSERT_EQ(factor(cholesky, each), 0);
        const std::vector<double> x = solve(cholesky, each);
        const GlobalIndex first = comm.exclusive_scan(std::ssize(x));
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(x[i], expected[first + static_cast<Eigen::Index>(i)], 1e-12)
              << each.num_nodes << " nodes, " << num_parts << " parts";
      }
    }
  }
}

TEST_F(DissectedCholeskyTest, TellsWhatIsNotPositiveDefinite) {
  const Given given = grid(20);
  const Eigen::VectorXd eigenvalues = given.dense.selfadjointView<Eigen::Lower>().eigenvalues();
  for (int num_parts = 1; num_parts <= comm.size(); num_parts *= 2) {
    DissectedCholesky cholesky = make(given, num_parts);
    EXPECT_EQ(factor(cholesky, given, eigenvalues[0] - 1e-3), 0);
    EXPECT_EQ(factor(cholesky, given, eigenvalues[0] + 1e-3), PETSC_ERR_MAT_CH_ZRPVT);
    EXPECT_EQ(factor(cholesky, given), 0);
  }
}

/// Two blocks whose facing nodes are tied by stiff springs: nodes of one or two ranks in the middle.
class StiffSubsetTest : public ::testing::Test {
protected:
  static constexpr int n = 7;
  parallel::Communicator comm{MPI_COMM_WORLD};
  testing::ElasticBox<3> box{comm, n, -1, 2};
  linalg::BlockMatrix matrix{box.layout, box.graph};
  StencilMatrix contact{box.layout};
  Vector b{box.layout}, x{box.layout};

  void SetUp() override {
    testing::ElasticParameters parameters;
    parameters.dt = 1;
    testing::assemble(box, parameters, matrix);
    std::vector<Stencil> stencils;
    const int size = box.layer_size();
    for (int node = 0; node < size; ++node) {
      if (node % (n + 1) == 0) continue; // clamped
      const Eigen::Vector3d normal = Eigen::Vector3d(std::sin(node), 0.1, 1).normalized();
      Eigen::VectorXd g(6);
      g << normal, -normal;
      const GlobalIndex below = static_cast<GlobalIndex>(n) * size + node;
      stencils.push_back({node % comm.size(), {below + size, below}, 1e8 * g * g.transpose()});
    }
    testing::assemble(stencils, contact);
    for (std::size_t i = 0; i < b.owned().size(); ++i)
      b.write_owned()[i] = std::cos(static_cast<double>(i) + 3.0 * static_cast<double>(box.layout->offset));
  }
  /// x = R' (R A R')^-1 R b.
  void solve(StiffSubset& subset) {
    ASSERT_EQ(subset.set_up(box.graph, matrix.get(), contact), 0);
    RECOIL_PETSC(subset.start(b.get(), x.get()));
    x.update_ghosts();
  }
  /// The largest entry of R (b - A x) on any rank.
  double largest_residual() const {
    Vector first(box.layout), second(box.layout);
    matrix.multiply(x, first);
    contact.multiply(x, second);
    double largest = 0;
    for (const LocalIndex node : contact.nodes())
      for (std::size_t i = 3 * static_cast<std::size_t>(node), end = i + 3; i < end; ++i)
        largest = std::max(largest, std::abs(b.owned()[i] - first.owned()[i] - second.owned()[i]));
    return comm.max(largest);
  }
  bool is_now(const std::vector<double>& entries) const {
    return comm.all(std::ranges::equal(x.owned(), entries, [](double u, double v) {
      return std::bit_cast<std::uint64_t>(u) == std::bit_cast<std::uint64_t>(v);
    }));
  }
};

TEST_F(StiffSubsetTest, SeveralRanksSolveExactlyAndAlike) {
  if (comm.size() > 2) {
    EXPECT_TRUE(comm.any(contact.nodes().empty()));
  }
  StiffSubset alone(box.layout, "alone_", 1000), together(box.layout, "together_", 60);
  solve(alone);
  EXPECT_EQ(alone.num_parts(), 1);
  EXPECT_LT(largest_residual(), 1e-9);
  const std::vector<double> reference(x.owned().begin(), x.owned().end());

  solve(together);
  EXPECT_EQ(together.num_parts(), power_of_two_within(comm.size()));
  EXPECT_LT(largest_residual(), 1e-9);
  for (std::size_t i = 0; i < reference.size(); ++i) ASSERT_NEAR(x.owned()[i], reference[i], 1e-12);

  const std::vector<double> expected(x.owned().begin(), x.owned().end());
  for (int repeat = 0; repeat < 3; ++repeat) {
    StiffSubset fresh(box.layout, "together_", 60);
    solve(fresh);
    EXPECT_TRUE(is_now(expected));
    solve(together);
    EXPECT_TRUE(is_now(expected)) << "history";
  }
}

TEST_F(StiffSubsetTest, RanksComeAndGoWithThePattern) {
  StiffSubset subset(box.layout, "subset_", 120);
  solve(subset);
  EXPECT_EQ(subset.num_parts(), std::min(2, comm.size()));
  testing::assemble({{0, {1}, 1e8 * Eigen::MatrixXd::Identity(3, 3)}}, contact);
  solve(subset);
  EXPECT_EQ(subset.num_parts(), 1);
  EXPECT_LT(largest_residual(), 1e-9);
  SetUp();
  solve(subset);
  EXPECT_LT(largest_residual(), 1e-9);
}

TEST_F(StiffSubsetTest, OptionsOfTheFactorisationKeepItOnOneRank) {
  RECOIL_PETSC(PetscOptionsSetValue(nullptr, "-chosen_pc_type", "cholesky"));
  StiffSubset subset(box.layout, "chosen_", 60);
  solve(subset);
  RECOIL_PETSC(PetscOptionsClearValue(nullptr, "-chosen_pc_type"));
  EXPECT_EQ(subset.num_parts(), 1);
  EXPECT_LT(largest_residual(), 1e-9);
}

} // namespace
} // namespace recoil::stiff_subset_test
