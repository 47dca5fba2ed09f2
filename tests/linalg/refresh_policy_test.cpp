#include <gtest/gtest.h>

#include "linalg/refresh_policy.hpp"

namespace recoil::refresh_policy_test {
namespace {

using linalg::LinearOutcome;
using linalg::LinearResult;
using linalg::RefreshPolicy;
using linalg::Renewal;

LinearResult result(int iterations, LinearOutcome outcome = LinearOutcome::converged) {
  return {outcome, iterations, 0};
}

/// A policy whose hierarchy was built by a solve of `iterations` to 1e-2, and whose matrix has changed since.
RefreshPolicy after_first_solve(int iterations) {
  RefreshPolicy policy;
  policy.renewed(Renewal::everything);
  policy.solved(result(iterations), 1e-2);
  policy.matrix_changed();
  return policy;
}

TEST(RefreshPolicy, BuildsEverythingAtTheBeginningOfASequence) {
  RefreshPolicy policy;
  EXPECT_EQ(policy.due(), Renewal::everything);
  policy.renewed(Renewal::everything);
  EXPECT_EQ(policy.due(), Renewal::nothing);
  policy.solved(result(100), 1e-2);
  EXPECT_EQ(policy.due(), Renewal::nothing);

  policy.begin_sequence();

  EXPECT_TRUE(policy.sequence_begins());
  EXPECT_EQ(policy.due(), Renewal::everything);
}

TEST(RefreshPolicy, RenewsForEveryMatrixWhereThatIsFree) {
  RefreshPolicy policy(true);
  policy.renewed(Renewal::everything);
  policy.solved(result(10), 1e-2);
  policy.matrix_changed();
  EXPECT_EQ(policy.due(), Renewal::operators);
  policy.renewed(Renewal::operators);
  policy.solved(result(1), 1e-2);
  EXPECT_EQ(policy.iteration_limit(1e-2, 500), 500);
}

TEST(RefreshPolicy, KeepsAHierarchyThatIsFast) {
  RefreshPolicy policy = after_first_solve(10);
  EXPECT_EQ(policy.due(), Renewal::stiff_terms);
  policy.renewed(Renewal::stiff_terms);
  // Twice the digits may take twice the iterations, and the price of a refresh.
  policy.solved(result(20 + static_cast<int>(RefreshPolicy::refresh_in_iterations)), 1e-4);
  policy.matrix_changed();
  EXPECT_EQ(policy.due(), Renewal::stiff_terms);
}

TEST(RefreshPolicy, RenewsTheOperatorsOfOneThatIsSlow) {
  RefreshPolicy policy = after_first_solve(10);
  policy.renewed(Renewal::stiff_terms);
  policy.solved(result(11 + static_cast<int>(RefreshPolicy::refresh_in_iterations)), 1e-2);
  EXPECT_EQ(policy.due(), Renewal::nothing) << "the matrix is the same";
  policy.matrix_changed();
  EXPECT_EQ(policy.due(), Renewal::operators);

  policy.renewed(Renewal::operators);
  policy.solved(result(40), 1e-2);
  policy.matrix_changed();

  EXPECT_EQ(policy.due(), Renewal::stiff_terms) << "a new hierarchy is what later ones are measured by";
}

TEST(RefreshPolicy, BreaksOffSolvesWithAnOldHierarchyOnly) {
  RefreshPolicy policy;
  policy.renewed(Renewal::everything);
  EXPECT_EQ(policy.iteration_limit(1e-2, 2000), 2000);
  EXPECT_FALSE(policy.gives_up(result(2000, LinearOutcome::not_converged)));
  policy.solved(result(10), 1e-2);
  policy.matrix_changed();
  policy.renewed(Renewal::stiff_terms);

  EXPECT_EQ(policy.iteration_limit(1e-2, 2000), 34);
  EXPECT_EQ(policy.iteration_limit(1e-2, 30), 30);
  EXPECT_TRUE(policy.gives_up(result(34, LinearOutcome::not_converged)));
  EXPECT_TRUE(policy.gives_up(result(3, LinearOutcome::failed)));
  EXPECT_FALSE(policy.gives_up(result(3, LinearOutcome::indefinite)));
  EXPECT_FALSE(policy.gives_up(result(30)));
}

TEST(RefreshPolicy, ReplacesInterpolationsFromIndefiniteMatrices) {
  RefreshPolicy policy;
  policy.created();
  EXPECT_FALSE(policy.has_interpolation());
  policy.set_up();
  policy.found_indefinite();
  EXPECT_TRUE(policy.is_unsound());

  policy.created();
  policy.set_up();
  policy.set_up();
  policy.found_indefinite();

  EXPECT_TRUE(policy.has_interpolation());
  EXPECT_FALSE(policy.is_unsound()) << "the interpolation is from an earlier matrix";
}

TEST(RefreshPolicy, FollowsTheStiffNodes) {
  EXPECT_FALSE(RefreshPolicy::has_moved(1, 8));
  EXPECT_TRUE(RefreshPolicy::has_moved(2, 8));
}

} // namespace
} // namespace recoil::refresh_policy_test
