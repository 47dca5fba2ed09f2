#include "recoil/base/progress.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recoil/base/log.hpp"

namespace recoil::progress_test {

TEST(RemainingTime, equal_steps) {
  RemainingTime time(100);
  EXPECT_LT(time.seconds_left(), 0) << "nothing is known yet";
  for (int i = 0; i < 25; ++i) time.step_done(2);
  EXPECT_EQ(time.done(), 25);
  EXPECT_NEAR(time.seconds_left(), 150, 1e-9);
  for (int i = 0; i < 75; ++i) time.step_done(2);
  EXPECT_EQ(time.seconds_left(), 0);
}

TEST(RemainingTime, follows_a_change_of_pace_and_skips_a_restart) {
  RemainingTime time(1000);
  time.skip(500);
  EXPECT_LT(time.seconds_left(), 0);
  for (int i = 0; i < 50; ++i) time.step_done(1);
  for (int i = 0; i < 50; ++i) time.step_done(10);
  EXPECT_EQ(time.done(), 600);
  EXPECT_GT(time.seconds_left(), 400 * 9.0);
  EXPECT_LT(time.seconds_left(), 400 * 10.0);
}

TEST(RemainingTime, durations_read_well) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(0.25), "0.2 s");
  EXPECT_EQ(format_duration(42.4), "42 s");
  EXPECT_EQ(format_duration(59.7), "1 min 00 s");
  EXPECT_EQ(format_duration(185), "3 min 05 s");
  EXPECT_EQ(format_duration(7620), "2 h 07 min");
  EXPECT_EQ(format_duration(3 * 86400 + 4 * 3600), "3 d 04 h");
  EXPECT_EQ(format_duration(-1), "unknown");
  EXPECT_EQ(format_duration(std::nan("")), "unknown");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(ProgressLine, is_silent_without_a_terminal) {
  ::testing::internal::CaptureStdout();
  {
    initialize_log({});
    ProgressLine line;
    line.show("step 1", true);
  }
  const std::string output = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(output, "");
}

namespace {

// What a process writes that runs `work` with a terminal as its standard output.
template <class Work>
std::string on_terminal(Work&& work, unsigned short columns = 80) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return "no terminals here";
  const std::string name = ptsname(master);
  const winsize size{24, columns, 0, 0};
  ioctl(master, TIOCSWINSZ, &size);
  const pid_t child = fork();
  if (child == 0) {
    const int terminal = open(name.c_str(), O_RDWR | O_NOCTTY);
    dup2(terminal, STDOUT_FILENO);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::string text;
  char buffer[4096];
  fcntl(master, F_SETFL, O_NONBLOCK);
  for (ssize_t count; (count = read(master, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  close(master);
  return text;
}

} // namespace

TEST(ProgressLine, log_lines_appear_above_it) {
  const std::string text = on_terminal([] {
    initialize_log({});
    RemainingTime time(4);
    time.step_done(10);
    ProgressLine line;
    line.show(time);
    log_info("a log line");
    line.show("at once, so not shown");
    line.show(std::string(500, 'w'), true);
  });
  if (text == "no terminals here") GTEST_SKIP() << text;
  const std::string wipe = "\r\033[K", bar = "[#####...............] step 1/4, 30 s left";
  EXPECT_EQ(text, bar + wipe + "a log line\r\n" + bar + wipe + std::string(79, 'w') + wipe);
}

TEST(ProgressLine, is_off_in_quiet_and_json_modes) {
  for (const bool json : {false, true}) {
    const std::string text = on_terminal([&] {
      LogOptions options;
      options.quiet = !json;
      options.json_lines = json;
      initialize_log(options);
      ProgressLine line;
      line.show("step 1", true);
    });
    if (text == "no terminals here") GTEST_SKIP() << text;
    EXPECT_EQ(text, "");
  }
}

// mpirun gives its ranks a terminal of no size even when its own output goes to a file.
TEST(ProgressLine, is_silent_in_a_batch_job_under_mpirun) {
  if (isatty(STDOUT_FILENO)) GTEST_SKIP() << "the tests themselves run on a terminal";
  const std::string text = on_terminal(
      [] {
        initialize_log({});
        ProgressLine line;
        line.show("step 1", true);
      },
      0);
  if (text == "no terminals here") GTEST_SKIP() << text;
  EXPECT_EQ(text, "");
}

} // namespace recoil::progress_test
