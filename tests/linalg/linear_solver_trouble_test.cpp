#include <cstdio>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "linalg/elastic_box.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linear_solver_trouble_test {
namespace {

using linalg::BlockMatrix;
using linalg::LinearMethod;
using linalg::LinearOutcome;
using linalg::LinearSolver;
using linalg::Vector;

class TroubleTest : public ::testing::TestWithParam<LinearMethod> {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  testing::ElasticBox<3> box{comm, 5};
  BlockMatrix matrix{box.layout, box.graph};
  Vector b = testing::weight(box, 1000);
  Vector x{box.layout};
  LinearSolver solver{box.layout, {.method = GetParam()}};

  void SetUp() override { testing::assemble<3>(box, {}, matrix); }

  void rebuild() {
    solver.update(matrix, box.modes());
    solver.prepare(linalg::Renewal::everything);
  }
  linalg::LinearResult solve() { return solver.solve(b, x, 1e-8, 500); }
  double residual_norm() {
    Vector residual(box.layout);
    matrix.multiply(x, residual);
    residual.add(-1, b);
    return residual.norm();
  }

  /// Adds value(global node) to the diagonal of the free nodes that this rank owns.
  void add_to_diagonal(const std::function<double(GlobalIndex)>& value) {
    const auto values = matrix.begin_filling();
    for (LocalIndex node = 0; node < box.layout->num_owned; ++node) {
      if (box.constrained[static_cast<std::size_t>(3 * node)]) continue;
      const double added = value(box.layout->offset + node);
      const std::array<double, 9> block{added, 0, 0, 0, added, 0, 0, 0, added};
      values.add<3>(node, matrix.position(node, node), block.data(), 3);
    }
    matrix.finish_filling();
  }

  void expect_recovery() {
    testing::assemble<3>(box, {}, matrix);
    solver.prepare(linalg::Renewal::operators);
    EXPECT_EQ(solve().outcome, LinearOutcome::converged);
  }
};

TEST_P(TroubleTest, NegativeDefinite) {
  testing::ElasticParameters negative;
  negative.young = -1e6;
  testing::assemble(box, negative, matrix);

  rebuild();

  EXPECT_EQ(solve().outcome, LinearOutcome::indefinite);
  EXPECT_EQ(x.norm(), 0);
  expect_recovery();
}

TEST_P(TroubleTest, ShiftedBelowTheLowestEigenvalues) {
  // The lowest modes of the cantilever have |K v| / |v| of about E h (h/L)^2 / 10.
  add_to_diagonal([](GlobalIndex) { return -2e4; });

  rebuild();

  EXPECT_EQ(solve().outcome, LinearOutcome::indefinite);
  expect_recovery();
}

TEST_P(TroubleTest, OneNodeWithNegativeStiffness) {
  const GlobalIndex node = box.layout->num_global - 1;
  add_to_diagonal([&](GlobalIndex at) { return at == node ? -1e7 : 0; });

  rebuild();

  EXPECT_EQ(solve().outcome, LinearOutcome::indefinite);
  expect_recovery();
}

TEST_P(TroubleTest, EveryOtherNodeWithNegativeStiffness) {
  add_to_diagonal([](GlobalIndex node) { return node % 2 == 0 ? -1e7 : 0; });

  rebuild();

  EXPECT_EQ(solve().outcome, LinearOutcome::indefinite);
  expect_recovery();
}

TEST_P(TroubleTest, IndefiniteOnlyAfterRefresh) {
  rebuild();
  ASSERT_EQ(solve().outcome, LinearOutcome::converged);
  add_to_diagonal([](GlobalIndex) { return -2e4; });

  solver.prepare(linalg::Renewal::operators);

  EXPECT_EQ(solve().outcome, LinearOutcome::indefinite);
  EXPECT_EQ(solve().outcome, LinearOutcome::indefinite);
  expect_recovery();
}

// Newton's method meets hundreds of them on its way; the console is for the user.
TEST_P(TroubleTest, IndefiniteMatricesAreNoNews) {
  add_to_diagonal([](GlobalIndex node) { return node % 2 == 0 ? -1e7 : 0; });
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  rebuild();
  const LinearOutcome outcome = solve().outcome;
  std::fflush(nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(outcome, LinearOutcome::indefinite);
}

// PETSc's own door to CHOLMOD leaves a copy of every indefinite matrix behind.
TEST_P(TroubleTest, IndefiniteMatricesLeaveNothingBehind) {
  // Multigrid sees negative entries before it is set up.
  const double added = GetParam() == LinearMethod::amg ? -2e4 : -1e7;
  add_to_diagonal([&](GlobalIndex node) { return added == -2e4 || node % 5 == 0 ? added : 0; });
  rebuild();
  const auto bytes_in_use = [] { return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); };
  const auto refresh_often = [&] {
    for (int k = 0; k < 20; ++k) {
      matrix.shift_diagonal(1e-6); // another matrix to PETSc
      solver.prepare(linalg::Renewal::operators);
      EXPECT_EQ(solve().outcome, LinearOutcome::indefinite);
    }
    return bytes_in_use();
  };
  const double before = refresh_often();
  constexpr double of_one_matrix = 1e5;
  EXPECT_LT(refresh_often(), before + of_one_matrix);
}

TEST_P(TroubleTest, RebuiltPreconditionersLeaveNothingBehind) {
  const auto bytes_in_use = [] { return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); };
  const auto rebuild_often = [&] {
    for (int k = 0; k < 50; ++k) {
      matrix.shift_diagonal(1e-6); // another matrix to PETSc
      rebuild();
      EXPECT_EQ(solve().outcome, LinearOutcome::converged);
    }
    return bytes_in_use();
  };
  rebuild_often();
  const double before = bytes_in_use();
  // PETSc's hierarchies leave half a kilobyte each; an object that is lost is a kilobyte more.
  constexpr double of_hierarchies = 50 * 1100;
  EXPECT_LT(rebuild_often(), before + of_hierarchies);
}

TEST_P(TroubleTest, IndefiniteSystemsAreSolvedByTheFactorisation) {
  add_to_diagonal([](GlobalIndex node) { return node % 2 == 0 ? -1e7 : 0; });
  rebuild();
  ASSERT_EQ(solve().outcome, LinearOutcome::indefinite);

  const auto result = solver.solve_indefinite(b, x, 1e-10);

  if (GetParam() != LinearMethod::direct) {
    EXPECT_EQ(result.outcome, LinearOutcome::indefinite);
    EXPECT_EQ(x.norm(), 0);
    return;
  }
  EXPECT_EQ(result.outcome, LinearOutcome::converged);
  EXPECT_LT(residual_norm(), 1e-9 * b.norm());
}

TEST_P(TroubleTest, SweepsSolveIndefiniteSystemsByEitherMethod) {
  add_to_diagonal([](GlobalIndex node) { return node % 2 == 0 ? -1e7 : 0; });
  rebuild();
  EXPECT_EQ(solver.solve_stationary(b, x, 1e-10, 500).outcome, LinearOutcome::converged);
  EXPECT_LT(residual_norm(), 1e-9 * b.norm());
}

// The factorisation is one rank's, and so is its error.
TEST_P(TroubleTest, APivotOfZeroEndsOnEveryRank) {
  std::vector<double> blocks;
  for (LocalIndex row = 0; row < box.layout->num_owned; ++row)
    for (auto k = box.graph->offsets[static_cast<std::size_t>(row)];
         k < box.graph->offsets[static_cast<std::size_t>(row) + 1]; ++k)
      blocks.push_back(box.graph->neighbours[static_cast<std::size_t>(k)] == row ? 0 : 1e6);
  matrix.set_zero();
  matrix.begin_filling();
  matrix.add_scaled_identities(blocks);
  matrix.finish_filling();
  rebuild();
  ASSERT_NE(solve().outcome, LinearOutcome::converged);

  EXPECT_NE(solver.solve_indefinite(b, x, 1e-10).outcome, LinearOutcome::converged);
  EXPECT_EQ(x.norm(), 0);
  rebuild();
  ASSERT_NE(solve().outcome, LinearOutcome::converged);
}

TEST_P(TroubleTest, UndefinedAndInfiniteEntries) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const GlobalIndex node = box.layout->num_global - 1;
    add_to_diagonal([&](GlobalIndex at) { return at == node ? bad : 0; });

    rebuild();

    EXPECT_EQ(solve().outcome, LinearOutcome::failed);
    EXPECT_EQ(x.norm(), 0);
    expect_recovery();
  }
}

TEST_P(TroubleTest, UndefinedRightHandSideOnOneRank) {
  rebuild();
  if (comm.rank() == comm.size() - 1) b.write_owned()[0] = std::numeric_limits<double>::quiet_NaN();

  EXPECT_EQ(solve().outcome, LinearOutcome::failed);

  b = testing::weight(box, 1000);
  EXPECT_EQ(solve().outcome, LinearOutcome::converged);
}

TEST_P(TroubleTest, ZeroRightHandSide) {
  rebuild();
  b.fill(0);
  x.fill(5);

  const auto result = solve();

  EXPECT_EQ(result.outcome, LinearOutcome::converged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(x.norm(), 0);
}

TEST_P(TroubleTest, IterationLimit) {
  rebuild();

  const auto result = solver.solve(b, x, 1e-30, 1);

  EXPECT_EQ(result.outcome, LinearOutcome::not_converged);
  EXPECT_GT(result.relative_residual, 0);
  EXPECT_GT(x.norm(), 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, TroubleTest,
                         ::testing::Values(LinearMethod::direct, LinearMethod::amg,
                                           LinearMethod::block_jacobi),
                         [](const auto& info) {
                           return info.param == LinearMethod::direct ? "direct"
                                  : info.param == LinearMethod::amg  ? "amg"
                                                                     : "block_jacobi";
                         });

TEST(LinearSolverOptions, OfTheUserOverrideTheBuiltInOnes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::ElasticBox<3> box(comm, 6);
  BlockMatrix matrix(box.layout, box.graph);
  testing::assemble<3>(box, {}, matrix);
  const Vector b = testing::weight(box, 1000);
  Vector x(box.layout);
  linalg::insert_options("-user_pc_type jacobi -user_ksp_max_it 7");

  LinearSolver solver(box.layout, {.method = LinearMethod::amg, .prefix = "user_"});
  solver.update(matrix, box.modes());
  solver.prepare(linalg::Renewal::everything);
  const auto result = solver.solve(b, x, 1e-8, 500);

  EXPECT_EQ(result.outcome, LinearOutcome::not_converged);
  EXPECT_EQ(result.iterations, 7);
  EXPECT_THAT(solver.description(), ::testing::HasSubstr("-user_ksp_max_it 7 -user_pc_type jacobi"));
  EXPECT_TRUE(solver.repeatable());
  EXPECT_THAT(LinearSolver(box.layout, {.method = LinearMethod::amg}).description(),
              ::testing::Not(::testing::HasSubstr("PETSc options")))
      << "neither another prefix nor the built-in defaults are options of the user";
}

TEST(LinearSolverOptions, UnrepeatableOnesAreKnown) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::ElasticBox<2> box(comm, 8);
  linalg::insert_options("-mumps_pc_type cholesky -mumps_pc_factor_mat_solver_type mumps");
  EXPECT_EQ(LinearSolver(box.layout, {.method = LinearMethod::direct, .prefix = "mumps_"}).repeatable(),
            comm.size() == 1);
  linalg::insert_options("-matptap_via nonscalable");
  EXPECT_EQ(LinearSolver(box.layout, {.method = LinearMethod::amg, .prefix = "plain_"}).repeatable(),
            comm.size() < 3);
  RECOIL_PETSC(PetscOptionsClearValue(nullptr, "-matptap_via"));
  EXPECT_TRUE(LinearSolver(box.layout, {.method = LinearMethod::amg, .prefix = "plain_"}).repeatable());
}

class FactoringSolver : public linalg::PreconditionedSolver {
public:
  using PreconditionedSolver::PreconditionedSolver;
  std::string type() const {
    PCType type = nullptr;
    RECOIL_PETSC(PCGetType(preconditioner_.get(), &type));
    return type;
  }
};

/// On all ranks but the first one, which factors, where there are several.
TEST(LinearSolverOptions, ChooseWhatFactors) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::ElasticBox<3> box(comm, 5, comm.size() > 1 ? 0 : -1);
  linalg::BlockMatrix matrix(box.layout, box.graph);
  testing::assemble<3>(box, {}, matrix);
  const linalg::Vector b = testing::weight(box, 1);
  struct Choice {
    std::string options, alone, together; ///< preconditioners on one rank and on several
  };
  const std::vector<Choice> choices{{"", PCSHELL, PCSHELL},
                                    {"mat_cholmod_factor simplicial", PCSHELL, PCSHELL},
                                    {"pc_factor_mat_solver_type mumps", PCCHOLESKY, PCCHOLESKY},
                                    {"pc_type lu", PCLU, PCLU},
                                    {"pc_type cholesky", PCCHOLESKY, PCCHOLESKY},
                                    {"pc_type telescope", "", PCTELESCOPE},
                                    {"telescope_pc_factor_mat_solver_type petsc", PCSHELL, PCTELESCOPE}};
  int number = 0;
  for (const auto& [options, alone, together] : choices) {
    const std::string prefix = "choice" + std::to_string(number++) + "_";
    const std::string& expected = comm.size() == 1 ? alone : together;
    if (expected.empty()) continue;
    if (!options.empty()) linalg::insert_options("-" + prefix + options);
    FactoringSolver solver({box.layout, prefix, "contact_", linalg::user_options(prefix), nullptr},
                           LinearMethod::direct);
    EXPECT_EQ(solver.type(), expected) << options;
    solver.rebuild(matrix, box.modes(), nullptr);
    linalg::Vector x(box.layout);
    for (int k = 0; k < 2; ++k) {
      const linalg::LinearResult result = solver.solve(b, x, 1e-8, 20);
      EXPECT_EQ(result.outcome, LinearOutcome::converged) << options;
      EXPECT_LE(result.iterations, 2) << options;
      solver.refresh(nullptr, linalg::Renewal::operators);
    }
  }
}

TEST(LinearSolverOptions, UnknownTypesAreRefused) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const testing::ElasticBox<2> box(comm, 8);
  linalg::insert_options("-bad_pc_type nonsense");
  EXPECT_THROW(LinearSolver(box.layout, {.method = LinearMethod::amg, .prefix = "bad_"}), LibraryError);
}

} // namespace
} // namespace recoil::linear_solver_trouble_test
