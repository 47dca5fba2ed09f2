#include "recoil/base/memory.hpp"

#include <filesystem>
#include <new>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "recoil/base/error.hpp"

namespace recoil::memory_test {
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

std::string refusal(double bytes) {
  try {
    require_memory(bytes, "/geometry/0", "n_refs 12 makes many cells", "take fewer levels");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

} // namespace

TEST(Memory, ThereIsSomeAndMoreIsRefusedWithTheEstimate) {
  const MemoryLimit limit = memory_limit();
  EXPECT_GT(limit.bytes, 1e7);
  EXPECT_EQ(refusal(1e6), "accepted");
  EXPECT_THAT(refusal(4e15), AllOf(HasSubstr("/geometry/0: n_refs 12 makes many cells"), HasSubstr("4 PB"),
                                   HasSubstr(limit.source + " gives " + describe_bytes(limit.bytes)),
                                   HasSubstr("take fewer levels")));
  EXPECT_THAT(refusal(std::numeric_limits<double>::infinity()), HasSubstr("inf")) << "a count that overflows";
}

TEST(Memory, OfTheMachineIsShared) {
  const MemoryLimit alone = memory_limit();
  EXPECT_LE(memory_limit(4).bytes, alone.bytes);
  if (alone.source != "`ulimit -v`") {
    EXPECT_DOUBLE_EQ(memory_limit(4).bytes, alone.bytes / 4);
  }
}

TEST(Memory, UlimitIsSeen) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto limited = [] {
    const rlimit limit{rlim_t(400) << 20, rlim_t(400) << 20};
    setrlimit(RLIMIT_AS, &limit);
    const MemoryLimit seen = memory_limit();
    std::_Exit(seen.source == "`ulimit -v`" && seen.bytes < 400e6 * 1.05 ? 0 : 1);
  };
  EXPECT_EXIT(limited(), ::testing::ExitedWithCode(0), "");
}

TEST(Memory, PeakGrowsByWhatIsTouched) {
  const double before = peak_memory_mb();
  EXPECT_GT(before, 1);
  const std::vector<char> block(200'000'000, 1);
  EXPECT_EQ(block[123456789], 1);
  const double after = peak_memory_mb();
  EXPECT_GT(after, 195);
  EXPECT_LT(after, before + 300);
}

TEST(Memory, BytesForPeople) {
  EXPECT_EQ(describe_bytes(12), "12 bytes");
  EXPECT_EQ(describe_bytes(24.7e9), "24.7 GB");
  EXPECT_EQ(describe_bytes(3e18), "3e+03 PB");
}

TEST(Failure, EveryExceptionBecomesAnExitCodeAndASentence) {
  const Failure full = describe_failure(std::bad_alloc(), 3);
  EXPECT_EQ(exit_status(full.code), 2);
  EXPECT_THAT(full.message, AllOf(HasSubstr("memory ran out on rank 3"), Not(HasSubstr("bad_alloc"))));

  try {
    FAIL() << std::filesystem::file_size("/no/such/file");
  } catch (const std::exception& error) {
    const Failure missing = describe_failure(error, 0);
    EXPECT_EQ(exit_status(missing.code), 4);
    EXPECT_EQ(missing.message, "/no/such/file: No such file or directory");
  }

  const Failure own = describe_failure(InputError("a", "b"), 0);
  EXPECT_EQ(exit_status(own.code), 2);
  EXPECT_EQ(own.message, "a: b");

  const Failure unknown = describe_failure(std::runtime_error("odd"), 0);
  EXPECT_EQ(exit_status(unknown.code), 3) << "none but 0, 2, 3, 4 and 75 leave the program";
  EXPECT_THAT(unknown.message, HasSubstr("please report it: odd"));
}

} // namespace recoil::memory_test
