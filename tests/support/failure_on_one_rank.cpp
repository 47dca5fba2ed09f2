#include <gtest/gtest.h>
#include <mpi.h>

TEST(FailureOnOneRank, fails_everywhere) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_NE(rank, 1) << "the failure on purpose";
}

TEST(FailureOnOneRank, does_not_touch_the_next_test) { SUCCEED(); }
