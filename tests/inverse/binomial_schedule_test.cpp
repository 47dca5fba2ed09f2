#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/inverse/stored_states.hpp"

namespace recoil::inverse {
namespace {

/// A run of which the states are needed newest first, with what it costs.
class Reversal {
public:
  Reversal(GlobalIndex steps, GlobalIndex snapshots) { reverse(0, steps, snapshots); }

  std::vector<GlobalIndex> visited;
  GlobalIndex repeated = 0; ///< steps
  GlobalIndex most_held = 0;

private:
  /// Visits the `steps` states after `first`, which is held, newest first.
  void reverse(GlobalIndex first, GlobalIndex steps, GlobalIndex snapshots) {
    if (steps >= 2 && snapshots >= 1) {
      const GlobalIndex split = binomial_split(steps, snapshots);
      ASSERT_GE(split, 1);
      ASSERT_LT(split, steps);
      repeated += split;
      most_held = std::max(most_held, ++held_);
      reverse(first + split, steps - split, snapshots - 1);
      visited.push_back(first + split);
      --held_;
      reverse(first, split - 1, snapshots);
      return;
    }
    for (GlobalIndex state = first + steps; state > first; --state) {
      repeated += state - first;
      visited.push_back(state);
    }
  }

  GlobalIndex held_ = 0;
};

/// binomial(n, k), 0 for k < 0.
GlobalIndex binomial(GlobalIndex n, GlobalIndex k) {
  if (k < 0) return 0;
  GlobalIndex result = 1;
  for (GlobalIndex i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

/// The least number of repeated steps [Griewank, Walther 2000, proposition 1, where the first state is a
/// snapshot too and the last step is one to be reversed].
GlobalIndex least_repeated(GlobalIndex steps, GlobalIndex snapshots) {
  GlobalIndex r = 0;
  while (binomial(snapshots + 1 + r, r) <= steps) ++r;
  return r * (steps + 1) - binomial(snapshots + 1 + r, r - 1);
}

void expect_optimal(GlobalIndex steps, GlobalIndex snapshots) {
  const Reversal reversal(steps, snapshots);
  EXPECT_EQ(reversal.repeated, least_repeated(steps, snapshots)) << steps << " steps, " << snapshots;
  EXPECT_LE(reversal.most_held, snapshots);
  ASSERT_EQ(std::ssize(reversal.visited), steps);
  for (GlobalIndex i = 0; i < steps; ++i)
    ASSERT_EQ(reversal.visited[i], steps - i) << steps << " steps, " << snapshots;
}

TEST(BinomialSchedule, VisitsEveryStateOnceAndRepeatsAsFewStepsAsTheBinomialFormula) {
  for (GlobalIndex steps = 1; steps <= 150; ++steps)
    for (GlobalIndex snapshots = 0; snapshots <= 12; ++snapshots) expect_optimal(steps, snapshots);
  for (const GlobalIndex steps : {1000, 4096, 20000})
    for (const GlobalIndex snapshots : {3, 10, 25}) expect_optimal(steps, snapshots);
}

/// No schedule of this kind is better: all splits are tried.
TEST(BinomialSchedule, IsTheBestOfAllSchedules) {
  constexpr GlobalIndex most_steps = 60, most_snapshots = 6;
  std::vector<std::vector<GlobalIndex>> least(most_snapshots + 1,
                                              std::vector<GlobalIndex>(most_steps + 1, 0));
  for (GlobalIndex c = 0; c <= most_snapshots; ++c)
    for (GlobalIndex n = 1; n <= most_steps; ++n) {
      least[c][n] = n * (n + 1) / 2;
      for (GlobalIndex split = 1; c > 0 && split < n; ++split)
        least[c][n] = std::min(least[c][n], split + least[c - 1][n - split] + least[c][split - 1]);
      EXPECT_EQ(Reversal(n, c).repeated, least[c][n]) << n << " steps, " << c;
    }
}

} // namespace
} // namespace recoil::inverse
