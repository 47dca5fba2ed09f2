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

/// The next sequence begins with the hierarchy of a reference, and solves with one matrix.
void pass_sequence(RefreshPolicy& policy, int iterations, double tolerance = 1e-2) {
  policy.begin_sequence();
  policy.hold_reference();
  policy.renewed(policy.due());
  policy.solved(result(iterations), tolerance);
}

/// A policy whose reference has been measured by a solve of 10 iterations to 1e-2.
RefreshPolicy after_reference() {
  RefreshPolicy policy;
  policy.created();
  policy.renewed(Renewal::everything);
  policy.set_up();
  policy.took_reference(3);
  pass_sequence(policy, 10);
  return policy;
}

TEST(RefreshPolicy, KeepsTheReferenceWhileItServes) {
  RefreshPolicy policy = after_reference();
  EXPECT_EQ(policy.record().iterations_per_digit, 5);
  for (int sequence = 0; sequence < 20; ++sequence) {
    pass_sequence(policy, 12);
    EXPECT_EQ(policy.record().at_start, Renewal::stiff_terms);
    EXPECT_FALSE(policy.needs_reference(3));
  }
  EXPECT_TRUE(policy.needs_reference(4));
}

TEST(RefreshPolicy, RenewsOperatorsAndThenAllWhereTheReferenceIsSlow) {
  RefreshPolicy policy = after_reference();
  pass_sequence(policy, 14);
  EXPECT_EQ(policy.record().at_start, Renewal::operators);

  pass_sequence(policy, 12);
  EXPECT_EQ(policy.record().at_start, Renewal::operators);
  EXPECT_FALSE(policy.needs_reference(3)) << "its interpolation is all that is wanted";

  policy.begin_sequence();
  policy.hold_reference();
  EXPECT_EQ(policy.due(), Renewal::operators);
  policy.renewed(Renewal::operators);
  policy.solved(result(14), 1e-2);
  EXPECT_EQ(policy.record().at_start, Renewal::everything);
  policy.begin_sequence();
  EXPECT_FALSE(policy.may_use_reference());
}

TEST(RefreshPolicy, CountsTheSolvesOfASequenceTogether) {
  RefreshPolicy policy = after_reference();
  policy.begin_sequence();
  policy.hold_reference();
  policy.renewed(policy.due());
  policy.solved(result(14), 1e-2);
  policy.solved(result(8), 1e-2);
  EXPECT_EQ(policy.record().at_start, Renewal::stiff_terms);
  // A fifth more, but more than new operators cost.
  for (int solve = 0; solve < 6; ++solve) policy.solved(result(12), 1e-2);
  EXPECT_EQ(policy.record().at_start, Renewal::operators);
}

TEST(RefreshPolicy, JudgesTheReferenceByTheMatricesOfASequence) {
  for (const int iterations : {12, 14}) {
    RefreshPolicy policy = after_reference();
    policy.begin_sequence();
    policy.hold_reference();
    for (int matrix = 0; matrix < 6; ++matrix) {
      policy.matrix_changed();
      policy.renewed(policy.due());
      policy.solved(result(iterations), 1e-2);
    }
    EXPECT_EQ(policy.record().at_start, iterations == 12 ? Renewal::stiff_terms : Renewal::operators);
  }
}

TEST(RefreshPolicy, BringsTheReferenceBackAfterOtherOperators) {
  RefreshPolicy policy = after_reference();
  policy.begin_sequence();
  policy.hold_reference();
  policy.renewed(Renewal::stiff_terms);
  policy.renewed(Renewal::operators);
  EXPECT_TRUE(policy.needs_reference(3));
}

TEST(RefreshPolicy, GivesAReferenceUpWhoseInterpolationIsLost) {
  RefreshPolicy policy = after_reference();
  policy.begin_sequence();
  policy.created();
  EXPECT_TRUE(policy.may_use_reference()) << "the sequence has not begun with it";
  EXPECT_TRUE(policy.needs_reference(3));
  policy.took_reference(3);
  policy.begin_sequence();
  policy.hold_reference();
  policy.created();
  EXPECT_FALSE(policy.may_use_reference());
}

TEST(RefreshPolicy, GoesOnWithARecord) {
  RefreshPolicy policy;
  policy.restore({3, 5, Renewal::stiff_terms});
  EXPECT_TRUE(policy.needs_reference(3));
  policy.created();
  policy.renewed(Renewal::everything);
  policy.set_up();
  policy.took_reference(3);
  policy.begin_sequence();
  policy.hold_reference();
  EXPECT_EQ(policy.due(), Renewal::stiff_terms);
  policy.renewed(Renewal::stiff_terms);
  EXPECT_EQ(policy.iteration_limit(1e-2, 2000), 34) << "it is measured by what it took when it was new";

  policy.took_reference(4);
  EXPECT_EQ(policy.record().iterations_per_digit, 0) << "another reference has to be measured";
}

TEST(RefreshPolicy, FollowsTheStiffNodes) {
  EXPECT_FALSE(RefreshPolicy::has_moved(1, 8));
  EXPECT_TRUE(RefreshPolicy::has_moved(2, 8));
}

} // namespace
} // namespace recoil::refresh_policy_test
