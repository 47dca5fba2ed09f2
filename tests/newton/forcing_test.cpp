#include "newton/forcing.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "newton/toy_objective.hpp"

namespace recoil::newton::testing {
namespace {

TEST(Forcing, SecondChoiceOfEisenstatAndWalker) {
  ForcingSequence forcing(ForcingTerms{.first = 0.5, .largest = 0.9, .smallest = 1e-10});
  EXPECT_EQ(forcing.next(1, 0), 0.5);
  // The safeguard: 0.9 * 0.5^2 = 0.225 is above 0.1, and above 0.9 * 0.01^2.
  EXPECT_DOUBLE_EQ(forcing.next(0.01, 0), 0.225);
  // 0.9 * 0.225^2 is not: the ratio decides.
  EXPECT_DOUBLE_EQ(forcing.next(0.001, 0), 0.9 * 0.01);
  EXPECT_DOUBLE_EQ(forcing.next(0.1, 0), 0.9);
  EXPECT_EQ(forcing.next(1e-20, 0), 0.9 * 0.9 * 0.9);
}

TEST(Forcing, TightWhereTheSolveMayBeTheLast) {
  ForcingSequence forcing(ForcingTerms{});
  EXPECT_EQ(forcing.next(1, 1e-8), 1e-2);
  EXPECT_NEAR(forcing.next(1e-2, 1e-8), 0.9e-4, 1e-18);
  EXPECT_EQ(forcing.next(1e-4, 1e-8), 1e-10); // 0.9e-4 * 1e-4 < 10 * 1e-8
  EXPECT_EQ(forcing.next(1e-4, 0, 1e-10), 1e-10);
  EXPECT_EQ(forcing.next(1e-3, 0), 1e-1);
}

TEST(Forcing, LastSolveLeavesItsShareOfTheTolerance) {
  ForcingSequence forcing(ForcingTerms{});
  EXPECT_EQ(forcing.next(1e-7, 1e-8, 1, 0.1), 1e-10); // the first
  EXPECT_EQ(forcing.next(1, 1e-8, 1, 0.1), 1e-1);
  EXPECT_NEAR(forcing.next(1e-2, 1e-8, 1, 0.1), 0.9e-4, 1e-18);
  EXPECT_NEAR(forcing.next(1e-4, 1e-8, 1, 0.1), 1e-5, 1e-18);
  EXPECT_EQ(forcing.next(1e-4, 1e-8, 1e-10, 0.1), 1e-10);
  EXPECT_EQ(forcing.next(1, 1e-14, 1, 0.1), 1e-1);
  EXPECT_EQ(forcing.next(1e-2, 1e-14, 1, 0), 0.9e-4);
}

// What chord steps have gained in between is not Newton's convergence.
TEST(Forcing, LastSolveAfterASuddenDropLeavesItsShareToo) {
  ForcingSequence sequence(ForcingTerms{});
  sequence.next(1e4, 1e-7, 1, 0.1);
  EXPECT_NEAR(sequence.next(4e-4, 1e-7, 1, 0.1), 0.1 * 1e-7 / 4e-4, 1e-12);
}

// However tight the solve, the function's own curvature leaves more: the next solve will be the last.
TEST(Forcing, NotTheLastWhereCurvatureLeavesMore) {
  ForcingSequence forcing(ForcingTerms{.first = 1e-3, .largest = 1e-3});
  EXPECT_EQ(forcing.next(1, 2e-5), 1e-3);
  EXPECT_EQ(forcing.next(0.1, 2e-5), 1e-3);   // 0.9 * 0.1^2 * 0.1 > 10 * 2e-5 > 1e-3 * 0.1
  EXPECT_EQ(forcing.next(1e-3, 2e-5), 1e-10); // 0.9 * 0.01^2 * 1e-3 < 10 * 2e-5
}

TEST(Forcing, InexactSolvesCostFewIterationsMore) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const VectorXd stiffness = VectorXd::LinSpaced(8, 0.1, 2);
  int iterations[2];
  for (const bool inexact : {false, true}) {
    ToyObjective toy = springs(stiffness, 1);
    toy.inexact = inexact;
    linalg::Vector x = distribute(comm, at_rest(8));
    NewtonOptions options;
    options.relative_gradient_tolerance = 0;
    const NewtonResult result = minimize(toy, Euclidean(), x, options);
    EXPECT_EQ(result.outcome, NewtonOutcome::converged_gradient);
    iterations[inexact] = result.iterations;
    EXPECT_EQ(toy.tolerances.front(), 1e-2);
    EXPECT_EQ(toy.tolerances.back(), 1e-10);
    EXPECT_LT(std::count(toy.tolerances.begin(), toy.tolerances.end(), 1e-10), 3);
    EXPECT_LT((gather(x) - springs_solution(stiffness, 1)).norm(), 1e-8);
  }
  EXPECT_LE(iterations[1], iterations[0] + 2);
}

} // namespace
} // namespace recoil::newton::testing
