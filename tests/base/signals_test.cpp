#include "recoil/base/signals.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace recoil::signals_test {

namespace {
int previous_calls = 0;
void previous_handler(int) { ++previous_calls; }
} // namespace

TEST(InterruptSignals, remember_both_signals) {
  InterruptSignals signals;
  for (const int number : {SIGUSR1, SIGTERM}) {
    EXPECT_FALSE(signals.pending());
    std::raise(number);
    EXPECT_TRUE(signals.pending());
    EXPECT_EQ(signals.signal(), number);
    signals.clear();
  }
  EXPECT_EQ(signals.signal(), 0);
}

TEST(InterruptSignals, restore_the_previous_handler) {
  const auto original = std::signal(SIGUSR1, previous_handler);
  {
    InterruptSignals signals;
    std::raise(SIGUSR1);
    EXPECT_EQ(previous_calls, 0);
  }
  std::raise(SIGUSR1);
  EXPECT_EQ(previous_calls, 1);
  {
    InterruptSignals signals;
    EXPECT_FALSE(signals.pending()) << "signals of an earlier life are forgotten";
  }
  std::signal(SIGUSR1, original);
}

TEST(InterruptSignals, a_process_ends_its_step_and_exits_75) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    InterruptSignals signals;
    if (write(ends[1], "k", 1) != 1) _exit(1);
    int steps = 0;
    while (!signals.pending() && steps < 10'000) {
      usleep(1000);
      ++steps;
    }
    _exit(signals.pending() ? 75 : 1);
  }
  char ready = 0;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "the signal must not end the process";
  EXPECT_EQ(WEXITSTATUS(status), 75);
  close(ends[0]);
  close(ends[1]);
}

namespace {
/// How a process ends that does `work`.
template <class Work>
int status_of_process(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

struct RaisesAtExit {
  ~RaisesAtExit() { std::raise(SIGUSR1); }
};
} // namespace

TEST(InterruptSignals, are_held_until_static_destructors_have_run) {
  const int status = status_of_process([] {
    static const RaisesAtExit at_exit;
    InterruptSignals::hold_until_exit();
    { InterruptSignals inner; }
    std::raise(SIGTERM);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(InterruptSignals, end_the_process_that_lets_go) {
  const int before = status_of_process([] {
    InterruptSignals::hold_until_exit();
    std::raise(SIGUSR1);
    InterruptSignals::let_go();
  });
  EXPECT_TRUE(WIFSIGNALED(before) && WTERMSIG(before) == SIGUSR1);
  const int after = status_of_process([] {
    InterruptSignals::hold_until_exit();
    InterruptSignals::let_go();
    std::raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(after) && WTERMSIG(after) == SIGTERM);
}

TEST(InterruptSignals, are_given_back_between_calls) {
  const int status = status_of_process([] {
    std::signal(SIGTERM, previous_handler);
    previous_calls = 0;
    const InterruptSignals outlives_the_calls;
    {
      const InterruptSignals of_a_call;
      std::raise(SIGTERM);
      if (!of_a_call.pending() || previous_calls != 0) _exit(1);
      InterruptSignals::suspend();
    }
    std::raise(SIGTERM);
    if (previous_calls != 1) _exit(2);
    const InterruptSignals of_the_next;
    if (of_the_next.pending()) _exit(3);
    std::raise(SIGTERM);
    if (!of_the_next.pending() || previous_calls != 1) _exit(4);
  });
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(InterruptSignals, count_the_keyboard_where_they_are_asked_to) {
  const int before = status_of_process([] {
    const InterruptSignals signals;
    std::raise(SIGINT);
  });
  EXPECT_TRUE(WIFSIGNALED(before) && WTERMSIG(before) == SIGINT);
  const int after = status_of_process([] {
    InterruptSignals::catch_keyboard();
    const InterruptSignals signals;
    std::raise(SIGINT);
    if (signals.signal() != SIGINT) _exit(1);
  });
  ASSERT_TRUE(WIFEXITED(after));
  EXPECT_EQ(WEXITSTATUS(after), 7);
}

TEST(DeferredSignals, wait_for_its_end_whatever_handlers_a_library_leaves) {
  const int status = status_of_process([] {
    InterruptSignals signals;
    {
      const DeferredSignals deferred;
      std::raise(SIGTERM);
      if (signals.pending()) _exit(1);
      struct sigaction once {};
      once.sa_handler = SIG_DFL;
      once.sa_flags = SA_RESETHAND;
      sigaction(SIGTERM, &once, nullptr);
    }
    if (!signals.pending()) _exit(2);
    std::raise(SIGTERM);
  });
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(InterruptSignals, an_outer_one_sees_what_came_during_an_inner_one) {
  InterruptSignals outer;
  {
    InterruptSignals inner;
    EXPECT_FALSE(inner.pending());
    std::raise(SIGUSR1);
    EXPECT_TRUE(inner.pending());
  }
  EXPECT_TRUE(outer.pending());
  std::raise(SIGTERM); // ends the process unless it is still caught
  EXPECT_EQ(outer.signal(), SIGTERM);
  EXPECT_TRUE(InterruptSignals().pending());
}

} // namespace recoil::signals_test
