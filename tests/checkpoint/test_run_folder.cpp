#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/temporary_folder.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/run_folder.hpp"

namespace recoil::checkpoint {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

template <class Expected, class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Expected& error) {
    return error.what();
  }
  return "not thrown";
}

TEST(RunFolder, IsMadeOnceAndOpenedAgain) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  const auto root = folder / "a/run";
  {
    const RunFolder run = RunFolder::create(comm, root);
    EXPECT_EQ(run.root(), root);
    EXPECT_EQ(run.trajectory(), root / "trajectory");
    if (comm.rank() == 0) std::ofstream(run.scene()) << "{}";
  }
  comm.barrier();
  EXPECT_THAT(message_of<InputError>([&] { RunFolder::create(comm, root); }), HasSubstr("--restart"));
  const RunFolder run = RunFolder::open(comm, root);
  EXPECT_EQ(run.summary(), root / "summary.json");
}

TEST(RunFolder, IsLockedAgainstASecondJob) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  std::optional<RunFolder> run(RunFolder::create(comm, folder / "run"));
  if (comm.rank() == 0) std::ofstream(run->scene()) << "{}";
  comm.barrier();
  EXPECT_THAT(message_of<FileError>([&] { RunFolder::open(comm, folder / "run"); }),
              HasSubstr("recoil.lock"));
  run.reset();
  EXPECT_NO_THROW(RunFolder::open(comm, folder / "run"));
}

TEST(RunFolder, DiscardsWhatItMade) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  const auto make_and_discard = [&](const std::filesystem::path& root) {
    RunFolder run = RunFolder::create(comm, root);
    if (comm.rank() == 0) {
      std::ofstream(run.scene()) << "{}";
      std::ofstream(run.log()) << "a line";
    }
    run.discard();
    comm.barrier();
  };
  make_and_discard(folder / "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  if (comm.rank() == 0) std::filesystem::create_directory(folder / "given");
  comm.barrier();
  make_and_discard(folder / "given");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "given"));
  comm.barrier();
  EXPECT_NO_THROW(RunFolder::create(comm, folder / "given"));
}

TEST(RunFolder, RefusesWhatIsNone) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  EXPECT_THAT(message_of<InputError>([&] { RunFolder::open(comm, folder / "none"); }),
              HasSubstr("no such run folder"));
  EXPECT_THAT(message_of<InputError>([&] { RunFolder::open(comm, folder.path()); }), HasSubstr("scene.json"));
  if (comm.rank() == 0) std::ofstream(folder / "file") << "x";
  comm.barrier();
  EXPECT_THAT(message_of<InputError>([&] { RunFolder::create(comm, folder / "file"); }),
              HasSubstr("is a file"));
  EXPECT_THAT(message_of<InputError>([&] { RunFolder::create(comm, folder.path()); }), HasSubstr("'file'"));
  if (comm.rank() == 0) std::filesystem::create_symlink(folder / "none", folder / "link");
  comm.barrier();
  EXPECT_THAT(message_of<FileError>([&] { RunFolder::create(comm, folder / "link"); }),
              HasSubstr("is a link to '" + (folder / "none").string() + "', which is not there"));
}

} // namespace
} // namespace recoil::checkpoint
