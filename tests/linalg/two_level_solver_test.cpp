#include <bit>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linalg/stencils.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::two_level_solver_test {
namespace {

using linalg::BlockMatrix;
using linalg::LinearMethod;
using linalg::LinearOutcome;
using linalg::LinearSolver;
using linalg::Renewal;
using linalg::StencilMatrix;
using linalg::StiffTerms;
using linalg::Vector;
using testing::Stencil;

struct Way {
  LinearMethod method;
  StiffTerms terms;
};

/// An elastic box with stiff springs between random nodes of its last layer and of the face x = 1 (the face x
/// = 0 is clamped), as self-contact gives. The last layer lives on the last rank: others may have no contact.
class TwoLevelSolverTest : public ::testing::TestWithParam<Way> {
protected:
  static constexpr int dim = 3;
  parallel::Communicator comm{MPI_COMM_WORLD};
  testing::ElasticBox<dim> box{comm, 4, comm.size() > 3 ? 1 : -1};
  BlockMatrix matrix{box.layout, box.graph};
  StencilMatrix contact{box.layout};
  Vector b = testing::weight(box, 1000);
  Vector x{box.layout};
  LinearSolver solver{box.layout, {.method = GetParam().method, .stiff_terms = GetParam().terms}};

  void SetUp() override { testing::assemble<dim>(box, {}, matrix); }
  /// What multigrid of the sum bears.
  double bearable(double stiffness) const {
    return GetParam().terms == StiffTerms::assembled ? std::min(stiffness, 100.0) : stiffness;
  }
  bool sandwiched() const {
    return GetParam().method == LinearMethod::amg && GetParam().terms == StiffTerms::two_level;
  }

  /// Springs with `stiffness` against E h; `everywhere` takes nodes of all layers.
  std::vector<Stencil> springs(double stiffness, unsigned seed, bool everywhere = true,
                               int count = 30) const {
    const int n = box.divisions;
    std::vector<GlobalIndex> candidates;
    for (GlobalIndex node = 0; node < box.layout->num_global; ++node)
      if (node / box.layer_size() == n || (everywhere && node % (n + 1) >= n - 1)) candidates.push_back(node);
    return testing::random_springs(dim, candidates, comm.size(), count, stiffness * 1e6 / n, seed,
                                   [&](GlobalIndex node, int) { return node % (n + 1) == 0; });
  }
  void assemble(const std::vector<Stencil>& stencils, double scale = 1) {
    testing::assemble(stencils, contact, scale);
  }
  void rebuild() { prepare(Renewal::everything); }
  void prepare(Renewal what) {
    solver.update(matrix, box.modes(), &contact);
    solver.prepare(what);
  }

  Eigen::MatrixXd dense_sum(const std::vector<Stencil>& stencils, double scale = 1) const {
    const parallel::Communicator self(MPI_COMM_SELF);
    const testing::ElasticBox<dim> whole(self, box.divisions);
    BlockMatrix stiffness(whole.layout, whole.graph);
    testing::assemble<dim>(whole, {}, stiffness);
    Eigen::MatrixXd sum = scale * testing::dense(stencils, dim, box.layout->num_global);
    Vector unit(whole.layout), column(whole.layout);
    for (Eigen::Index k = 0; k < sum.cols(); ++k) {
      unit.fill(0);
      unit.write_owned()[static_cast<std::size_t>(k)] = 1;
      stiffness.multiply(unit, column);
      sum.col(k) += Eigen::Map<const Eigen::VectorXd>(column.owned().data(), sum.rows());
    }
    return sum;
  }
  Eigen::VectorXd dense_load() const {
    const parallel::Communicator self(MPI_COMM_SELF);
    const Vector load = testing::weight(testing::ElasticBox<dim>(self, box.divisions), 1000);
    return Eigen::Map<const Eigen::VectorXd>(load.owned().data(),
                                             static_cast<Eigen::Index>(load.owned().size()));
  }
  void expect_solution(const Eigen::VectorXd& expected, double tolerance) const {
    const double size = expected.lpNorm<Eigen::Infinity>();
    for (std::size_t i = 0; i < x.owned().size(); ++i)
      ASSERT_NEAR(x.owned()[i], expected[static_cast<Eigen::Index>(i) + dim * box.layout->offset],
                  tolerance * size);
    Vector fresh = x;
    fresh.update_ghosts();
    EXPECT_TRUE(std::ranges::equal(fresh.local(), x.local()));
  }
};

std::string name_of(const ::testing::TestParamInfo<Way>& info) {
  if (info.param.method == LinearMethod::direct) return "direct";
  if (info.param.method == LinearMethod::block_jacobi) return "sandwich_of_blocks";
  return info.param.terms == StiffTerms::assembled ? "plain" : "sandwich";
}

TEST_P(TwoLevelSolverTest, AgreesWithADenseSolveAtAnyStiffness) {
  for (const double ratio : {1.0, 100.0, 1e4, 1e8}) {
    // Multigrid of the sum breaks down there, which is why the sandwich exists.
    if (GetParam().terms == StiffTerms::assembled && ratio > 100) continue;
    const auto stencils = springs(ratio, 7);
    assemble(stencils);

    rebuild();
    const auto result = solver.solve(b, x, 1e-10, 3000);

    EXPECT_EQ(result.outcome, LinearOutcome::converged) << ratio;
    if (GetParam().method == LinearMethod::direct) {
      EXPECT_LE(result.iterations, 3) << ratio;
    }
    if (sandwiched()) {
      EXPECT_LE(result.iterations, 60) << ratio;
    }
    expect_solution(dense_sum(stencils).ldlt().solve(dense_load()), 1e-6);
  }
}

TEST_P(TwoLevelSolverTest, PatternsComeAndGoWithinAStep) {
  rebuild();
  solver.solve(b, x, 1e-10, 3000);
  expect_solution(dense_sum({}).ldlt().solve(dense_load()), 1e-7);
  for (const int count : {5, 40, 3, 0, 5}) {
    const auto stencils = springs(100, static_cast<unsigned>(count), true, count);
    assemble(stencils);
    prepare(Renewal::operators);
    EXPECT_EQ(solver.solve(b, x, 1e-10, 3000).outcome, LinearOutcome::converged);
    expect_solution(dense_sum(stencils).ldlt().solve(dense_load()), 1e-7);
  }
  solver.update(matrix, box.modes());
  solver.prepare(Renewal::operators);
  solver.solve(b, x, 1e-10, 3000);
  expect_solution(dense_sum({}).ldlt().solve(dense_load()), 1e-7);
}

TEST_P(TwoLevelSolverTest, NewValuesInTheSamePattern) {
  const auto stencils = springs(10, 8);
  assemble(stencils);
  rebuild();
  for (const double scale : {1.0, bearable(1e3), 1e-3}) {
    assemble(stencils, scale);
    prepare(Renewal::operators);
    EXPECT_EQ(solver.solve(b, x, 1e-10, 3000).outcome, LinearOutcome::converged);
    expect_solution(dense_sum(stencils, scale).ldlt().solve(dense_load()), 1e-7);
  }
}

TEST_P(TwoLevelSolverTest, FrozenHierarchySolvesTheMatrixOfNow) {
  assemble(springs(bearable(1e4), 9));
  rebuild();
  const int before = solver.solve(b, x, 1e-9, 3000).iterations;
  auto harder = testing::ElasticParameters{};
  harder.young = 3e6;
  testing::assemble(box, harder, matrix);
  assemble(springs(bearable(1e5), 10));

  prepare(Renewal::stiff_terms);
  const auto result = solver.solve(b, x, 1e-9, 3000);

  EXPECT_EQ(result.outcome, LinearOutcome::converged);
  EXPECT_LT(result.relative_residual, 1e-8);
  if (sandwiched()) {
    EXPECT_LE(result.iterations, 3 * before);
  }
}

TEST_P(TwoLevelSolverTest, FrozenHierarchyWithoutContactSolvesTheMatrixOfNow) {
  if (!sandwiched()) GTEST_SKIP() << "keeps no hierarchy through a refresh";
  assemble({});
  rebuild();
  testing::assemble<dim>(box, {}, matrix, 3);
  prepare(Renewal::stiff_terms);
  ASSERT_EQ(solver.solve(b, x, 1e-10, 1000).outcome, LinearOutcome::converged);
  expect_solution(dense_sum({}).ldlt().solve(dense_load()) / 3, 1e-7);
}

TEST_P(TwoLevelSolverTest, RanksWithoutContact) {
  const auto stencils = springs(bearable(1e5), 11, false);
  assemble(stencils);
  if (comm.size() > 1 && comm.rank() == 0) {
    ASSERT_TRUE(contact.nodes().empty());
  }
  rebuild();
  EXPECT_EQ(solver.solve(b, x, 1e-10, 3000).outcome, LinearOutcome::converged);
  expect_solution(dense_sum(stencils).ldlt().solve(dense_load()), 1e-6);
}

TEST_P(TwoLevelSolverTest, PrescribedNodesMayHaveZeroRows) {
  auto stencils = springs(bearable(1e3), 12);
  stencils[0].nodes[1] = 0; // A clamped node; its entries are zeroed as callers do.
  stencils[0].block.middleRows(dim, dim).setZero();
  stencils[0].block.middleCols(dim, dim).setZero();
  // One prescribed component of a node in contact.
  const GlobalIndex node = stencils[1].nodes[0];
  const auto component = static_cast<Eigen::Index>(dim * node + 1);
  for (Stencil& stencil : stencils)
    for (std::size_t a = 0; a < stencil.nodes.size(); ++a)
      if (stencil.nodes[a] == node) {
        stencil.block.row(dim * static_cast<Eigen::Index>(a) + 1).setZero();
        stencil.block.col(dim * static_cast<Eigen::Index>(a) + 1).setZero();
      }
  Eigen::MatrixXd sum = dense_sum(stencils);
  const double diagonal = sum(component, component);
  sum.row(component).setZero();
  sum.col(component).setZero();
  sum(component, component) = diagonal;
  for (LocalIndex local = 0; local < box.layout->num_local(); ++local) {
    if (box.layout->global(local) == node) box.constrained[static_cast<std::size_t>(dim * local + 1)] = 1;
  }
  testing::assemble<dim>(box, {}, matrix);
  assemble(stencils);

  rebuild();

  EXPECT_EQ(solver.solve(b, x, 1e-10, 3000).outcome, LinearOutcome::converged);
  expect_solution(sum.ldlt().solve(dense_load()), 1e-6);
}

TEST_P(TwoLevelSolverTest, IndefiniteContactIsDetectedAndForgotten) {
  // Strong pushes are seen by the contact block alone, weak ones by the whole body only.
  const auto stencils = springs(1, 13);
  for (const double scale : {-1e6, -1.0, -0.05}) {
    assemble(stencils, scale);
    const bool indefinite = dense_sum(stencils, scale).llt().info() != Eigen::Success;
    rebuild();
    EXPECT_EQ(solver.solve(b, x, 1e-8, 3000).outcome,
              indefinite ? LinearOutcome::indefinite : LinearOutcome::converged)
        << scale;
    if (indefinite) {
      EXPECT_EQ(x.norm(), 0);
    }
    for (const Renewal what : {Renewal::stiff_terms, Renewal::operators}) {
      assemble(stencils);
      prepare(what);
      EXPECT_EQ(solver.solve(b, x, 1e-10, 3000).outcome, LinearOutcome::converged);
      expect_solution(dense_sum(stencils).ldlt().solve(dense_load()), 1e-7);
    }
  }
}

TEST_P(TwoLevelSolverTest, UndefinedEntriesFail) {
  auto stencils = springs(1, 14);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto spoilt = stencils;
    spoilt[3].block(0, 0) = bad;
    assemble(spoilt);
    rebuild();
    EXPECT_EQ(solver.solve(b, x, 1e-8, 3000).outcome, LinearOutcome::failed);
    EXPECT_EQ(x.norm(), 0);
    assemble(stencils);
    prepare(Renewal::operators);
    EXPECT_EQ(solver.solve(b, x, 1e-8, 3000).outcome, LinearOutcome::converged);
  }
}

TEST_P(TwoLevelSolverTest, BitsDependNeitherOnTheRunNorOnHistory) {
  const auto step = [&](LinearSolver& used, unsigned seed) {
    assemble(springs(bearable(1e5), seed));
    used.update(matrix, box.modes(), &contact);
    used.prepare(Renewal::everything);
    used.solve(b, x, 1e-8, 3000);
    assemble(springs(bearable(1e6), seed + 1));
    used.update(matrix, box.modes(), &contact);
    used.prepare(Renewal::operators);
    used.solve(b, x, 1e-8, 3000);
    assemble(springs(bearable(1e6), seed + 2, true, 7));
    used.update(matrix, box.modes(), &contact);
    used.prepare(Renewal::stiff_terms);
    used.solve(b, x, 1e-8, 3000);
    return x;
  };
  const auto same = [&](const Vector& a, const Vector& other) {
    return comm.all(std::ranges::equal(a.owned(), other.owned(), [](double u, double v) {
      return std::bit_cast<std::uint64_t>(u) == std::bit_cast<std::uint64_t>(v);
    }));
  };
  const Vector expected = step(solver, 20);
  EXPECT_FALSE(same(step(solver, 30), expected));
  EXPECT_TRUE(same(step(solver, 20), expected)) << "history";
  for (int repeat = 0; repeat < 3; ++repeat) {
    LinearSolver fresh(box.layout, {.method = GetParam().method, .stiff_terms = GetParam().terms});
    EXPECT_TRUE(fresh.repeatable());
    EXPECT_TRUE(same(step(fresh, 20), expected)) << "run";
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, TwoLevelSolverTest,
                         ::testing::Values(Way{LinearMethod::direct, StiffTerms::two_level},
                                           Way{LinearMethod::amg, StiffTerms::two_level},
                                           Way{LinearMethod::block_jacobi, StiffTerms::two_level},
                                           Way{LinearMethod::amg, StiffTerms::assembled}),
                         name_of);

/// Two blocks, the lower one clamped below, whose facing nodes are tied along slightly tilted normals.
class PressedBlocksTest : public ::testing::Test {
protected:
  static constexpr int n = 7;
  parallel::Communicator comm{MPI_COMM_WORLD};
  testing::ElasticBox<3> box{comm, n, -1, 2};
  BlockMatrix matrix{box.layout, box.graph};
  StencilMatrix contact{box.layout};
  Vector x{box.layout};

  void SetUp() override {
    const Vector at = box.positions();
    for (std::size_t i = 0; i < box.constrained.size(); ++i)
      box.constrained[i] = at.local()[i - i % 3 + 2] == 0 ? 1 : 0;
    testing::ElasticParameters parameters;
    parameters.dt = 1;
    testing::assemble(box, parameters, matrix);
  }
  /// `part` of the facing node pairs touch.
  void press(double ratio, double part = 1) {
    std::vector<Stencil> stencils;
    const int size = box.layer_size();
    for (int node = 0; node < part * size; ++node) {
      const Eigen::Vector3d normal =
          Eigen::Vector3d(0.1 * std::sin(node), 0.1 * std::cos(3 * node), 1).normalized();
      Eigen::VectorXd g(6);
      for (int i = 0; i < 6; ++i) g[i] = i < 3 ? normal[i] : -normal[i - 3];
      const GlobalIndex below = static_cast<GlobalIndex>(n) * size + node;
      stencils.push_back({node % comm.size(), {below + size, below}, ratio * 1e6 / n * g * g.transpose()});
    }
    testing::assemble(stencils, contact);
  }
  int iterations(LinearSolver& solver) {
    const auto result = solver.solve(testing::weight(box, 1000), x, 1e-6, 3000);
    EXPECT_EQ(result.outcome, LinearOutcome::converged);
    return result.iterations;
  }
};

TEST_F(PressedBlocksTest, IterationsDoNotFollowTheStiffness) {
  LinearSolver solver(box.layout, {.method = LinearMethod::amg});
  for (const double ratio : {1.0, 1e2, 1e4, 1e6, 1e8}) {
    press(ratio);
    solver.update(matrix, box.modes(), &contact);
    solver.prepare(Renewal::everything);
    EXPECT_LE(iterations(solver), 30) << ratio;
  }
}

TEST_F(PressedBlocksTest, MultigridLearnsOfContactThatComesWithinAStep) {
  LinearSolver solver(box.layout, {.method = LinearMethod::amg});
  solver.update(matrix, box.modes());
  solver.prepare(Renewal::everything);
  iterations(solver);
  for (const double part : {0.5, 0.52, 1.0, 0.3}) {
    press(1e6, part);
    solver.update(matrix, box.modes(), &contact);
    solver.prepare(part == 0.52 ? Renewal::stiff_terms : Renewal::operators);
    EXPECT_LE(iterations(solver), 45) << part;
  }
}

/// Particles of six components (positions and rotations) on a line, each bonded to the next: no block has the
/// size of the space, and the near null space is not that of an elastic body.
TEST(TwoLevelSolver, TakesBlocksThatAreNotOfTheDimension) {
  const int size = 6, count = 9;
  const parallel::Communicator comm(MPI_COMM_WORLD);
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &comm;
  layout->block_size = size;
  layout->num_owned = count;
  layout->offset = comm.rank() * count;
  layout->num_global = comm.size() * count;
  auto graph = std::make_shared<linalg::NodeGraph>();
  graph->offsets.push_back(0);
  for (LocalIndex node = 0; node < count; ++node) {
    graph->neighbours.push_back(node);
    graph->offsets.push_back(node + 1);
  }
  BlockMatrix inertia(layout, graph);
  inertia.begin_filling();
  inertia.add_scaled_identities(std::vector<double>(count, 1.0));
  inertia.finish_filling();
  std::vector<Stencil> bonds;
  for (GlobalIndex node = 0; node + 1 < layout->num_global; ++node) {
    Eigen::MatrixXd slopes(2 * size, size);
    for (int i = 0; i < 2 * size; ++i)
      for (int j = 0; j < size; ++j)
        slopes(i, j) = (i % size == j ? (i < size ? 1 : -1) : 0.1 * std::sin(i + 3 * j + double(node)));
    bonds.push_back(
        {static_cast<int>(node % comm.size()), {node, node + 1}, 1e5 * slopes * slopes.transpose()});
  }
  StencilMatrix stiff(layout);
  testing::assemble(bonds, stiff);
  Vector b(layout), x(layout), product(layout), of_bonds(layout);
  for (std::size_t i = 0; i < b.owned().size(); ++i) b.write_owned()[i] = std::cos(double(i));
  const auto modes = [&] {
    return linalg::NearNullSpace(*layout, size, [size](int mode, std::span<double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i) % size == mode ? 1 : 0;
    });
  };
  for (const LinearMethod method : {LinearMethod::direct, LinearMethod::amg}) {
    LinearSolver solver(layout, {.dimension = 3, .method = method});
    solver.update(inertia, modes, &stiff);
    solver.prepare(Renewal::everything);

    EXPECT_EQ(solver.solve(b, x, 1e-10, 100).outcome, LinearOutcome::converged);

    inertia.multiply(x, product);
    stiff.multiply(x, of_bonds);
    product.add(1, of_bonds);
    product.add(-1, b);
    EXPECT_LE(product.norm(), 1e-9 * b.norm());
  }
}

TEST(TwoLevelSolverOptions, ChooseThePlainPreconditioner) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::ElasticBox<3> box(comm, 4);
  linalg::insert_options("-flat_contact_plain");
  EXPECT_THAT(
      LinearSolver(box.layout, {.method = LinearMethod::amg, .prefix = "flat_", .stiff_name = "contact"})
          .description(),
      ::testing::HasSubstr("contact terms assembled"));
  EXPECT_THAT(LinearSolver(box.layout, {.method = LinearMethod::amg, .stiff_name = "contact"}).description(),
              ::testing::HasSubstr("exact solves on contact nodes"));
}

TEST(TwoLevelSolverOptions, ReachTheFactorisationOfTheContactBlock) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::ElasticBox<3> box(comm, 4);
  BlockMatrix matrix(box.layout, box.graph);
  testing::assemble<3>(box, {}, matrix);
  StencilMatrix contact(box.layout);
  testing::assemble(testing::random_springs(3, {4, 9, 14, 19, 24, 29, 34}, comm.size(), 5, 1e9, 1,
                                            [](GlobalIndex, int) { return false; }),
                    contact);
  linalg::insert_options("-odd_contact_pc_type nonsense");
  LinearSolver odd(box.layout, {.method = LinearMethod::amg, .prefix = "odd_", .stiff_name = "contact"});
  LinearSolver even(box.layout, {.method = LinearMethod::amg, .prefix = "even_", .stiff_name = "contact"});
  odd.update(matrix, box.modes(), &contact);
  even.update(matrix, box.modes(), &contact);
  EXPECT_THROW(odd.prepare(Renewal::everything), LibraryError);
  EXPECT_NO_THROW(even.prepare(Renewal::everything));
}

} // namespace
} // namespace recoil::two_level_solver_test
