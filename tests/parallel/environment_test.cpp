#include "recoil/parallel/environment.hpp"

#include <gtest/gtest.h>

#include "recoil/parallel/communicator.hpp"

using namespace recoil::parallel;

// One test, because MPI can be initialised once in a process only.
TEST(Environment, who_initialises_finalises) {
  int argc = 0;
  char** argv = nullptr;
  EXPECT_FALSE(mpi_is_active());
  {
    const Environment outer(argc, argv);
    EXPECT_TRUE(mpi_is_active());
    { const Environment inner(argc, argv); }
    EXPECT_TRUE(mpi_is_active()) << "the inner one must leave MPI to the outer one";
    const Communicator world(MPI_COMM_WORLD);
    EXPECT_EQ(world.sum(2.5), 2.5 * world.size());
  }
  EXPECT_FALSE(mpi_is_active());
}
