#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "recoil/parallel/communicator.hpp"
#include "support/temporary_folder.hpp"

using recoil::parallel::Communicator;

TEST(TemporaryFolder, is_one_folder_of_all_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  std::filesystem::path path;
  {
    const recoil::testing::TemporaryFolder folder(comm);
    path = folder.path();
    for (const auto& other : comm.all_gather(path.string())) EXPECT_EQ(other, path.string());
    std::ofstream(folder / std::to_string(comm.rank())) << "x";
    comm.barrier();
    EXPECT_TRUE(std::filesystem::exists(folder / std::to_string(comm.size() - 1)));
  }
  comm.barrier();
  EXPECT_FALSE(std::filesystem::exists(path));
}
