#include "recoil/parallel/pairwise_messages.hpp"

#include <array>
#include <random>

#include <gtest/gtest.h>

using namespace recoil::parallel;

namespace pairwise_messages_test {

// All pairs of ranks in one random order, of which each rank takes part in its own; at `broken_at` the rank
// `breaks` breaks the round off.
bool run_round(const Communicator& comm, PairwiseMessages& messages, unsigned seed, int broken_at,
               int breaks) {
  std::mt19937 random(seed);
  for (int event = 0; event < 200; ++event) {
    const int first = static_cast<int>(random() % comm.size()),
              second = static_cast<int>(random() % comm.size());
    const int here = comm.rank();
    if (event == broken_at && here == breaks) return messages.finish(true);
    if (first == second || (here != first && here != second)) continue;
    const int other = here == first ? second : first;
    const std::array<double, 3> mine{1.0 * here, 1.0 * event, 0.5};
    std::array<double, 3> theirs{};
    messages.send(other, mine);
    if (!messages.receive(other, theirs)) return messages.finish(true);
    EXPECT_EQ(theirs[0], other);
    EXPECT_EQ(theirs[1], event);
  }
  return messages.finish(false);
}

TEST(PairwiseMessages, ComeInOrderUntilARankBreaksOff) {
  const Communicator comm(MPI_COMM_WORLD);
  PairwiseMessages messages(comm);
  for (unsigned seed = 0; seed < 20; ++seed) {
    EXPECT_FALSE(run_round(comm, messages, seed, -1, 0));
    EXPECT_TRUE(
        run_round(comm, messages, seed, 7 * static_cast<int>(seed), static_cast<int>(seed) % comm.size()));
  }
}

} // namespace pairwise_messages_test
