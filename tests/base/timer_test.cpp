#include "recoil/base/timer.hpp"

#include <vector>

#include <gtest/gtest.h>

using namespace recoil;

TEST(PeakMemory, grows_by_what_is_touched) {
  const double before = peak_memory_mb();
  EXPECT_GT(before, 1);
  const std::vector<char> block(200'000'000, 1);
  EXPECT_EQ(block[123456789], 1);
  const double after = peak_memory_mb();
  EXPECT_GT(after, 195);
  EXPECT_LT(after, before + 300);
}
