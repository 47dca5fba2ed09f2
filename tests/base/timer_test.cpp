#include "recoil/base/timer.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

using namespace recoil;

namespace {
void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
} // namespace

TEST(PhaseTimers, accumulate_by_name) {
  PhaseTimers timers;
  EXPECT_EQ(timers.seconds("assembly"), 0);
  for (int i = 0; i < 3; ++i) {
    const auto scope = timers.scope("assembly");
    wait_ms(10);
  }
  timers.add("io", 1.5);
  EXPECT_GE(timers.seconds("assembly"), 0.03);
  EXPECT_LT(timers.seconds("assembly"), 1.5);
  EXPECT_EQ(timers.calls("assembly"), 3);
  EXPECT_EQ(timers.seconds("io"), 1.5);
  ASSERT_EQ(timers.phases().size(), 2u);
  EXPECT_EQ(timers.phases()[0].name, "assembly");
  timers.reset();
  EXPECT_EQ(timers.calls("assembly"), 0);
}

TEST(PhaseTimers, a_phase_inside_itself_counts_once) {
  PhaseTimers timers;
  const Stopwatch watch;
  {
    const auto outer = timers.scope("solve");
    const auto inner = timers.scope("solve");
    const auto other =
        timers.scope("line_search"); // the references held by open scopes must survive new phases
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) timers.add("phase" + std::to_string(i), 0);
    wait_ms(20);
  }
  const double elapsed = watch.seconds();
  EXPECT_EQ(timers.calls("solve"), 1);
  EXPECT_GE(timers.seconds("solve"), 0.02);
  EXPECT_LE(timers.seconds("solve"), elapsed);
  EXPECT_GE(timers.seconds("line_search"), 0.02);
}

TEST(PhaseTimers, stop_when_an_exception_passes) {
  PhaseTimers timers;
  try {
    const auto scope = timers.scope("io");
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(timers.calls("io"), 1);
}

TEST(PeakMemory, grows_by_what_is_touched) {
  const double before = peak_memory_mb();
  EXPECT_GT(before, 1);
  const std::vector<char> block(200'000'000, 1);
  EXPECT_EQ(block[123456789], 1);
  const double after = peak_memory_mb();
  EXPECT_GT(after, 195);
  EXPECT_LT(after, before + 300);
}
