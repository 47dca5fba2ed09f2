#include <fstream>
#include <iterator>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/checkpoint/run_folder.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::checkpoint {
namespace {

using ::testing::AllOf;
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
    run.begin(comm, "{}");
    if (comm.rank() == 0) std::ofstream(run.trajectory() / "manifest.json") << "{}";
  }
  comm.barrier();
  EXPECT_THAT(message_of<InputError>([&] { RunFolder::create(comm, root); }), HasSubstr("--restart"));
  const RunFolder run = RunFolder::open(comm, root);
  EXPECT_TRUE(run.has_states(comm));
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
    run.begin(comm, "{}");
    if (comm.rank() == 0) std::ofstream(run.log()) << "a line";
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

/// A file, or a folder where the name ends with a slash.
void make(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  if (path.has_filename()) std::ofstream(path) << "{}";
}

TEST(RunFolder, IsMadeAnewWhereARunEndedBeforeItsInitialState) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  const char* stages[] = {"recoil.lock.host.1",
                          "trajectory/",
                          "trajectory/scene.crc32.part",
                          "scene.json.part",
                          "scene.json",
                          "log.txt",
                          "trajectory/mesh.h5.part",
                          "trajectory/mesh.h5",
                          "trajectory/states_00000.h5",
                          "trajectory/manifest.json.part"};
  const auto root = folder / "run";
  for (std::size_t killed = 1; killed <= std::size(stages); ++killed) {
    if (comm.rank() == 0)
      for (std::size_t i = 0; i < killed; ++i) make(root / stages[i]);
    comm.barrier();
    if (killed > 4) {
      EXPECT_FALSE(RunFolder::open(comm, root).has_states(comm));
    }
    const RunFolder run = RunFolder::create(comm, root);
    EXPECT_FALSE(std::filesystem::exists(run.scene())) << "an old scene must not be taken for the new one";
    EXPECT_FALSE(std::filesystem::exists(run.trajectory()));
    EXPECT_EQ(std::filesystem::exists(run.log()), killed >= 6) << "logs stay";
    comm.barrier();
    if (comm.rank() == 0) std::filesystem::remove(run.log());
  }
}

TEST(RunFolder, WithoutStatesStartsFromTheSceneThatItWasBegunWith) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  const auto root = folder / "run";
  RunFolder::create(comm, root).begin(comm, "{\"nu\": 0.35}");
  EXPECT_FALSE(RunFolder::open(comm, root).has_states(comm));
  comm.barrier();
  for (const char* file : {"scene.json", "trajectory/scene.crc32"}) {
    RunFolder::create(comm, root).begin(comm, "{\"nu\": 0.35}");
    if (comm.rank() == 0) std::ofstream(root / file) << "{\"nu\": 0.30}";
    comm.barrier();
    EXPECT_THAT(message_of<FileError>([&] { RunFolder::open(comm, root).has_states(comm); }),
                AllOf(HasSubstr("run/scene.json: the file is damaged"), HasSubstr("scene.crc32")));
    comm.barrier();
  }
  const RunFolder run = RunFolder::create(comm, root);
  run.begin(comm, "{}");
  run.drop_scene_checksum(comm);
  comm.barrier();
  EXPECT_TRUE(std::filesystem::is_empty(run.trajectory()));
}

TEST(RunFolder, IsNotMadeWhereThereIsAnythingElse) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  for (const char* other :
       {"notes.txt", "ledger.csv", "summary.json", "trajectory/states_00001.h5", "trajectory/trajectory.xdmf",
        "trajectory/mine.h5", "empty/", "scene.json/", "log.txt/x"}) {
    const auto root = folder / "used";
    if (comm.rank() == 0) {
      std::filesystem::remove_all(root);
      make(root / "trajectory/mesh.h5");
      make(root / other);
    }
    comm.barrier();
    const std::string entry = (root / other).lexically_relative(root).begin()->string();
    EXPECT_THAT(message_of<InputError>([&] { RunFolder::create(comm, root); }), HasSubstr("'" + entry + "'"));
    EXPECT_TRUE(std::filesystem::exists(root / "trajectory/mesh.h5"));
    comm.barrier();
  }
}

TEST(RunFolder, IsNotMadeOverASceneOfSomebodyElse) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  if (comm.rank() == 0) make(folder / "scene.json");
  comm.barrier();
  EXPECT_THAT(message_of<InputError>([&] { RunFolder::create(comm, folder.path()); }),
              HasSubstr("'scene.json'"));
  EXPECT_TRUE(std::filesystem::exists(folder / "scene.json"));
}

TEST(RunFolder, WithStatesButNoManifestIsDamaged) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  for (const char* later : {"ledger.csv", "summary.json", "trajectory/states_00001.h5"}) {
    const auto root = folder / "damaged";
    if (comm.rank() == 0) {
      std::filesystem::remove_all(root);
      make(root / "scene.json");
      make(root / "trajectory/states_00000.h5");
      make(root / later);
    }
    comm.barrier();
    const RunFolder run = RunFolder::open(comm, root);
    EXPECT_THAT(message_of<FileError>([&] { run.has_states(comm); }),
                AllOf(HasSubstr("manifest.json"), HasSubstr(later)));
  }
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
