#include "recoil/base/phases.hpp"

#include <chrono>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "recoil/base/timer.hpp"

namespace recoil::phases_test {

double seconds(Phase phase) { return phase_seconds()[static_cast<std::size_t>(phase)]; }

void wait(double milliseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

TEST(Phases, an_inner_scope_takes_the_time_of_the_outer) {
  const double krylov = seconds(Phase::krylov), preconditioner = seconds(Phase::preconditioner);
  {
    const PhaseScope outer(Phase::krylov);
    wait(20);
    {
      const PhaseScope inner(Phase::preconditioner);
      wait(60);
    }
  }
  wait(20);
  EXPECT_GE(seconds(Phase::krylov) - krylov, 0.02);
  EXPECT_LT(seconds(Phase::krylov) - krylov, 0.06);
  EXPECT_GE(seconds(Phase::preconditioner) - preconditioner, 0.06);
}

TEST(Phases, every_moment_counts_once) {
  const auto sum = [] {
    const auto times = phase_seconds();
    return std::accumulate(times.begin(), times.end(), 0.0);
  };
  const Stopwatch watch;
  const double before = sum();
  {
    const PhaseScope outer(Phase::contact);
    const PhaseScope inner(Phase::assembly);
    wait(10);
  }
  wait(10);
  EXPECT_NEAR(sum() - before, watch.seconds(), 1e-3);
}

TEST(Phases, the_process_begins_with_its_start_up) {
  const double before = seconds(Phase::start_up);
  wait(5);
  EXPECT_GT(seconds(Phase::start_up), before);
  end_start_up();
  const double start_up = seconds(Phase::start_up), set_up = seconds(Phase::set_up);
  wait(5);
  EXPECT_EQ(seconds(Phase::start_up), start_up);
  EXPECT_GE(seconds(Phase::set_up) - set_up, 0.005);
  EXPECT_EQ(name(Phase::start_up), "start_up");
  EXPECT_EQ(name(Phase::other), "other");
}

} // namespace recoil::phases_test
