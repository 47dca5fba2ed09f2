#include <gtest/gtest.h>
#include <mpi.h>

TEST(FailureOnOneRank, fails_everywhere) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_NE(rank, 1) << "the failure on purpose";
}

// The failure belongs to the test before: neither gtest on this rank nor what ranks tell each other carries
// it over.
TEST(FailureOnOneRank, does_not_touch_the_next_test) {
  EXPECT_FALSE(HasFailure());
  const auto& unit = *testing::UnitTest::GetInstance();
  int failed_before = unit.failed_test_count(), failed_anywhere = 0;
  MPI_Allreduce(&failed_before, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(failed_anywhere, 1);
}
