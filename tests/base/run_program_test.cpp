#include "recoil/base/run_program.hpp"

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"
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

} // namespace
} // namespace recoil::run_program_test
