#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "linalg/elastic_box.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linear_solver_test {
namespace {

using linalg::BlockMatrix;
using linalg::LinearMethod;
using linalg::LinearOutcome;
using linalg::LinearSolver;
using linalg::Vector;

struct Case {
  int dim;
  LinearMethod method;
  double dt;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const std::string method = info.param.method == LinearMethod::direct ? "direct"
                             : info.param.method == LinearMethod::amg  ? "amg"
                                                                       : "block_jacobi";
  return std::to_string(info.param.dim) + "d_" + method + (info.param.dt > 0 ? "_dynamic" : "_static");
}

class LinearSolverTest : public ::testing::TestWithParam<Case> {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};

  template <class Check>
  void with_box(Check check, int idle_rank = -1) {
    if (GetParam().dim == 2)
      check(testing::ElasticBox<2>(comm, 16, idle_rank));
    else
      check(testing::ElasticBox<3>(comm, 5, idle_rank));
  }
  testing::ElasticParameters parameters() const {
    testing::ElasticParameters result;
    result.dt = GetParam().dt;
    return result;
  }
};

double true_residual(const BlockMatrix& matrix, const Vector& b, const Vector& x) {
  Vector residual(b.shared_layout());
  matrix.multiply(x, residual);
  residual.add(-1, b);
  return residual.norm() / b.norm();
}

bool same_bits(const parallel::Communicator& comm, const Vector& a, const Vector& b) {
  return comm.all(std::ranges::equal(a.owned(), b.owned(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  }));
}

TEST_P(LinearSolverTest, ReachesTheToleranceAndUpdatesGhosts) {
  const int idle_rank = comm.size() > 2 ? 1 : -1;
  with_box(
      [&]<int dim>(const testing::ElasticBox<dim>& box) {
        BlockMatrix matrix(box.layout, box.graph);
        testing::assemble(box, parameters(), matrix);
        const Vector b = testing::weight(box, 1000);
        Vector x(box.layout);
        LinearSolver solver(box.layout, {.dimension = dim, .method = GetParam().method});

        solver.update(matrix, box.modes());
        solver.prepare(linalg::Renewal::everything);
        const auto result = solver.solve(b, x, 1e-9, 200);

        EXPECT_EQ(result.outcome, LinearOutcome::converged);
        EXPECT_GE(result.iterations, 1);
        EXPECT_LE(result.iterations, GetParam().method == LinearMethod::direct ? 2
                                     : GetParam().method == LinearMethod::amg  ? 40
                                                                               : 150);
        const double residual = true_residual(matrix, b, x);
        EXPECT_LT(residual, 1e-8);
        EXPECT_NEAR(result.relative_residual, residual, 1e-6 * residual + 1e-14);
        Vector fresh = x;
        fresh.update_ghosts();
        EXPECT_TRUE(std::ranges::equal(fresh.local(), x.local()));
        EXPECT_TRUE(solver.repeatable());
        EXPECT_EQ(solver.method(), GetParam().method);
      },
      idle_rank);
}

TEST_P(LinearSolverTest, AgreesWithASolveOnOneRank) {
  const parallel::Communicator self(MPI_COMM_SELF);
  with_box([&]<int dim>(const testing::ElasticBox<dim>& box) {
    const testing::ElasticBox<dim> whole(self, box.divisions);
    const auto solved = [&](const testing::ElasticBox<dim>& part, LinearMethod method) {
      BlockMatrix matrix(part.layout, part.graph);
      testing::assemble(part, parameters(), matrix);
      LinearSolver solver(part.layout, {.dimension = dim, .method = method});
      solver.update(matrix, part.modes());
      solver.prepare(linalg::Renewal::everything);
      Vector x(part.layout);
      EXPECT_EQ(solver.solve(testing::weight(part, 1000), x, 1e-11, 200).outcome, LinearOutcome::converged);
      return x;
    };

    const Vector x = solved(box, GetParam().method);
    const Vector expected = solved(whole, LinearMethod::direct);

    const double size = expected.norm_infinity();
    ASSERT_GT(size, 1e-6);
    const auto first = static_cast<std::size_t>(box.layout->offset * dim);
    for (std::size_t i = 0; i < x.owned().size(); ++i)
      ASSERT_NEAR(x.owned()[i], expected.owned()[first + i], 1e-8 * size);
  });
}

TEST_P(LinearSolverTest, NewValuesReachThePreconditioner) {
  with_box([&]<int dim>(const testing::ElasticBox<dim>& box) {
    BlockMatrix matrix(box.layout, box.graph);
    testing::assemble(box, parameters(), matrix);
    const Vector b = testing::weight(box, 1000);
    Vector x(box.layout);
    LinearSolver solver(box.layout, {.dimension = dim, .method = GetParam().method});
    solver.update(matrix, box.modes());
    solver.prepare(linalg::Renewal::everything);
    const int before = solver.solve(b, x, 1e-9, 500).iterations;
    auto changed = parameters();
    changed.dt = 1e-4;
    changed.young = 5e6;
    testing::assemble(box, changed, matrix);

    const auto stale = solver.solve(b, x, 1e-9, 500);
    solver.prepare(linalg::Renewal::operators);
    const auto renewed = solver.solve(b, x, 1e-9, 500);

    EXPECT_EQ(renewed.outcome, LinearOutcome::converged);
    EXPECT_LT(true_residual(matrix, b, x), 1e-8);
    EXPECT_LE(renewed.iterations, before);
    EXPECT_GT(stale.iterations, renewed.iterations);
  });
}

TEST_P(LinearSolverTest, BitsDependNeitherOnTheRunNorOnHistory) {
  with_box([&]<int dim>(const testing::ElasticBox<dim>& box) {
    BlockMatrix matrix(box.layout, box.graph);
    const Vector b = testing::weight(box, 1000);
    Vector moved = box.positions();
    for (double& value : moved.write_local()) value *= value;
    const auto step = [&](LinearSolver& solver, const Vector& positions, double young) {
      auto values = parameters();
      values.young = young;
      testing::assemble(box, values, matrix);
      solver.update(matrix, [&] { return linalg::rigid_body_modes(positions, box.constrained); });
      solver.prepare(linalg::Renewal::everything);
      Vector x(box.layout);
      solver.solve(b, x, 1e-8, 200);
      testing::assemble(box, values, matrix, 1.1);
      solver.prepare(linalg::Renewal::operators);
      solver.solve(b, x, 1e-8, 200);
      return x;
    };
    LinearSolver first(box.layout, {.dimension = dim, .method = GetParam().method});
    const Vector expected = step(first, box.positions(), 1e6);
    LinearSolver used(box.layout, {.dimension = dim, .method = GetParam().method});
    const Vector other = step(used, moved, 3e6);
    EXPECT_FALSE(same_bits(comm, other, expected));

    EXPECT_TRUE(same_bits(comm, step(used, box.positions(), 1e6), expected));
    for (int repeat = 0; repeat < 3; ++repeat) {
      LinearSolver fresh(box.layout, {.dimension = dim, .method = GetParam().method});
      EXPECT_TRUE(same_bits(comm, step(fresh, box.positions(), 1e6), expected));
    }
  });
}

TEST_P(LinearSolverTest, FullyConstrainedBodyIsADiagonalSystem) {
  with_box([&]<int dim>(testing::ElasticBox<dim> box) {
    std::ranges::fill(box.constrained, 1);
    BlockMatrix matrix(box.layout, box.graph);
    testing::assemble(box, parameters(), matrix);
    Vector b(box.layout), x(box.layout);
    b.fill(3);
    LinearSolver solver(box.layout, {.dimension = dim, .method = GetParam().method});

    solver.update(matrix, box.modes());
    solver.prepare(linalg::Renewal::everything);

    EXPECT_EQ(solver.solve(b, x, 1e-10, 50).outcome, LinearOutcome::converged);
    EXPECT_LT(true_residual(matrix, b, x), 1e-9);
  });
}

INSTANTIATE_TEST_SUITE_P(Methods, LinearSolverTest,
                         ::testing::Values(Case{2, LinearMethod::direct, 0},
                                           Case{2, LinearMethod::direct, 1e-2}, Case{2, LinearMethod::amg, 0},
                                           Case{2, LinearMethod::amg, 1e-2}, Case{3, LinearMethod::direct, 0},
                                           Case{3, LinearMethod::direct, 1e-2}, Case{3, LinearMethod::amg, 0},
                                           Case{3, LinearMethod::amg, 1e-2},
                                           Case{2, LinearMethod::block_jacobi, 1e-2},
                                           Case{3, LinearMethod::block_jacobi, 0}),
                         name_of);

} // namespace
} // namespace recoil::linear_solver_test
