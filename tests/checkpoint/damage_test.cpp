#include <fstream>
#include <iterator>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/toy.hpp"
#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::checkpoint {
namespace {

using testing::differences;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_toy;
using testing::TemporaryFolder;
using testing::Toy;
namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// The FileError that reading everything, or taking up the run, gives; "" where all data are right, "WRONG"
/// else.
std::string outcome(const parallel::Communicator& comm, const fs::path& folder) {
  try {
    TrajectoryReader reader(comm, folder);
    const RestartPoint point = reader.restart_point();
    if (point.states.front() != 9) return "WRONG restart point";
    const std::string different = differences(comm, reader, 3, 7);
    return different.empty() ? "" : "WRONG " + different;
  } catch (const FileError& error) {
    return error.what();
  }
}

TEST(Damage, IsNeverReadInSilence) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  run_toy(comm, folder / "t", 9, 2, 2);
  ASSERT_EQ(outcome(comm, folder / "t"), "");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / "t"))
    if (entry.path().extension() != ".xdmf") files.push_back(entry.path()); // only looked at
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 6u);

  std::mt19937 random(12345);
  int refused = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const fs::path& file = files[random() % files.size()];
    const std::string sound = content(file);
    std::string damaged = sound;
    const std::size_t at = random() % sound.size();
    const bool truncated = trial % 5 == 0;
    if (truncated)
      damaged.resize(at);
    else
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    comm.barrier();
    if (comm.rank() == 0) write(file, damaged);
    comm.barrier();
    const std::string found = outcome(comm, folder / "t");
    EXPECT_THAT(found, HasSubstr(file.string()))
        << "trial " << trial << (truncated ? " cut at " : " flipped at ") << at;
    refused += !found.empty();
    comm.barrier();
    if (comm.rank() == 0) write(file, sound);
    comm.barrier();
  }
  EXPECT_EQ(refused, 200);
  EXPECT_EQ(outcome(comm, folder / "t"), "");
}

TEST(Damage, OfTheNewestFileTellsHowToGoOn) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  run_toy(comm, folder / "t", 9, 2, 2); // files end at 0, 4, 8, 9
  const fs::path newest = folder / "t/states_00003.h5";
  if (comm.rank() == 0) write(newest, content(newest) + "x");
  comm.barrier();
  const std::string message = outcome(comm, folder / "t");
  EXPECT_THAT(message, HasSubstr(newest.string() + ": the file is damaged"));
  EXPECT_THAT(message, HasSubstr("step 7, time 0.8"));
  EXPECT_THAT(message, HasSubstr("remove this file and run again with --restart"));
  const auto reports = verify(comm, folder / "t");
  EXPECT_EQ(reports[3].damage, "");
  EXPECT_THAT(reports[4].damage, HasSubstr("bytes instead of"));

  comm.barrier();
  if (comm.rank() == 0) fs::remove(newest);
  comm.barrier();
  TrajectoryReader reader(comm, folder / "t");
  const RestartPoint point = reader.restart_point();
  EXPECT_EQ(point.states, (std::vector<GlobalIndex>{8, 7, 6}));
  EXPECT_THAT(point.warning, HasSubstr(newest.string()));
  EXPECT_THAT(verify(comm, folder / "t")[4].damage, HasSubstr("missing"));
  run_toy(comm, folder / "t", 9, 2, 2);
  EXPECT_EQ(outcome(comm, folder / "t"), "");
}

// What cannot be read, for want of permission or because a node does not see it yet, may be sound.
TEST(Damage, AFileThatCannotBeReadIsNotToBeRemoved) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  run_toy(comm, folder / "t", 9, 2, 2);
  const fs::path newest = folder / "t/states_00003.h5";
  if (comm.rank() == 0) {
    fs::remove(newest);
    fs::create_directory(newest);
  }
  comm.barrier();
  const std::string message = outcome(comm, folder / "t");
  EXPECT_THAT(message, HasSubstr(newest.string() + ": the file cannot be read: "));
  EXPECT_THAT(message, HasSubstr("Check that every rank can read it"));
  EXPECT_THAT(message, Not(HasSubstr("remove")));
  EXPECT_THAT(message, Not(HasSubstr("damaged")));
}

TEST(Damage, OfAnOldFileStopsReadersOfItOnly) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  run_toy(comm, folder / "t", 9, 1, 2); // files end at 0, 2, 4, 6, 8, 9
  const fs::path old = folder / "t/states_00001.h5";
  if (comm.rank() == 0) write(old, content(old).substr(0, 100));
  comm.barrier();
  TrajectoryReader reader(comm, folder / "t");
  EXPECT_EQ(reader.restart_point().states.front(), 9);
  const Toy toy(comm, 3, 7);
  EXPECT_NO_THROW(reader.read(4, "u", toy.nodes()));
  EXPECT_THROW(reader.read(2, "u", toy.nodes()), FileError);
  EXPECT_THROW(reader.read(1, "v", toy.nodes()), FileError);
}

} // namespace
} // namespace recoil::checkpoint
