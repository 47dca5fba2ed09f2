#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/toy.hpp"
#include "io/limited_file_size.hpp"
#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::checkpoint {
namespace {

using testing::differences;
using ::testing::HasSubstr;
using testing::LimitedFileSize;
using testing::run_toy;
using testing::TemporaryFolder;

// Wherever space runs out, all ranks get the same FileError, the files before stand, and the run can be
// continued.
TEST(FullDisk, LeavesTheTrajectoryBefore) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  run_toy(comm, folder / "t", 4, 1, 2);
  const auto whole = static_cast<rlim_t>(std::filesystem::file_size(folder / "t/states_00001.h5"));
  for (const rlim_t limit : {rlim_t(0), rlim_t(100), whole / 2, whole - 100}) {
    std::optional<LimitedFileSize> full;
    if (comm.rank() == 0) full.emplace(limit);
    std::string message = "no failure";
    try {
      run_toy(comm, folder / "t", 8, 1, 2);
    } catch (const FileError& error) {
      message = error.what();
    }
    full.reset();
    EXPECT_THAT(message, HasSubstr((folder / "t").string())) << limit;
    EXPECT_THAT(message, HasSubstr("File too large")) << limit;
    TrajectoryReader reader(comm, folder / "t");
    EXPECT_EQ(reader.records().size(), 5u);
    EXPECT_EQ(differences(comm, reader, 3, 7), "");
    comm.barrier();
  }
  run_toy(comm, folder / "t", 8, 1, 2);
  TrajectoryReader reader(comm, folder / "t");
  EXPECT_EQ(reader.records().size(), 9u);
  EXPECT_EQ(differences(comm, reader, 3, 7), "");
}

} // namespace
} // namespace recoil::checkpoint
