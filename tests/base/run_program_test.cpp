#include "recoil/base/run_program.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/base/json_depth.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/base/signals.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::run_program_test {
namespace {

TEST(RunProgram, GivesStatusAndOutputWithoutTheLauncher) {
  const testing::TemporaryFolder folder;
  const auto output = folder / "out.txt";
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("RECOIL_TEST", "kept", 1);
  EXPECT_EQ(
      run_program({"sh", "-c", "echo \"$1 ${OMPI_COMM_WORLD_RANK-none} $RECOIL_TEST\"; exit 7", "sh", "a b"},
                  output),
      7);
  EXPECT_EQ(read_file(output), "a b none kept\n");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, output), 128 + SIGKILL);
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST(RunProgram, RefusesWhatIsNotThere) {
  const testing::TemporaryFolder folder;
  EXPECT_THROW(run_program({"no-such-program"}, folder / "out.txt"), InputError);
  EXPECT_THROW(run_program({"true"}, folder / "no-folder" / "out.txt"), FileError);
}

/// Of a process that ends or is a zombie: no.
bool lives(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number, name, state;
  return file >> number >> name >> state && state != "Z";
}

TEST(RunProgram, EndsWhatTakesTooLongWithItsChildren) {
  const testing::TemporaryFolder folder;
  const auto output = folder / "out.txt";
  EXPECT_THROW(run_program({"sh", "-c", "sleep 100 & echo $!; wait"}, output, 0.3), TimeLimitError);
  std::string child = read_file(output);
  child.pop_back();
  for (int i = 0; i < 100 && lives(child); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(lives(child));
}

TEST(RunProgram, EndsAtASignal) {
  const testing::TemporaryFolder folder;
  const InterruptSignals signals;
  try {
    run_program({"sh", "-c", "kill -TERM $PPID; trap '' TERM; sleep 100"}, folder / "out.txt", 60);
    FAIL() << "no signal was seen";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::interrupted);
  }
}

TEST(RunProgram, DoesNotWriteThroughALink) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "elsewhere.txt", folder / "out.txt");
  EXPECT_THROW(run_program({"true"}, folder / "out.txt"), FileError);
  EXPECT_FALSE(std::filesystem::exists(folder / "elsewhere.txt"));
}

TEST(JsonDepth, CountsBracketsOutsideOfTexts) {
  EXPECT_EQ(json_depth(R"({"a[[": [1, {"b\"[": []}]})"), 4);
  EXPECT_NO_THROW(require_shallow_json("[[1]]", "file"));
  EXPECT_THROW(require_shallow_json(std::string(200, '['), "file"), FileError);
}

} // namespace
} // namespace recoil::run_program_test
