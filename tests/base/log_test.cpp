#include "recoil/base/log.hpp"

#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::log_test {
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

namespace {

struct Output {
  std::string out, err;
};
template <class Work>
Output captured(Work&& work) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  work();
  Output output;
  output.out = ::testing::internal::GetCapturedStdout();
  output.err = ::testing::internal::GetCapturedStderr();
  return output;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void one_of_each() {
  log_debug("a debug message");
  log_info("an info message", {{"steps", 3}, {"residual", 0.5}});
  log_warning("a warning message");
  log_error("an error message");
}

class Log : public ::testing::Test {
  void TearDown() override { initialize_log({}); }
};

} // namespace

TEST_F(Log, plain_console) {
  initialize_log({});
  const Output output = captured(one_of_each);
  EXPECT_EQ(output.out, "an info message steps=3 residual=0.5\n");
  EXPECT_EQ(output.err, "warning: a warning message\nerror: an error message\n");
  EXPECT_FALSE(log_shows(LogLevel::debug));
  EXPECT_TRUE(log_shows(LogLevel::info));
}

TEST_F(Log, equal_warnings_once) {
  initialize_log({});
  const Output output = captured([] {
    for (const char* message : {"short edges", "short edges", "a long step", "short edges"})
      log_warning_once(message);
  });
  EXPECT_EQ(output.err, "warning: short edges\nwarning: a long step\n");
  initialize_log({});
  EXPECT_EQ(captured([] { log_warning_once("short edges"); }).err, "warning: short edges\n");
}

TEST_F(Log, levels) {
  LogOptions options;
  options.level = LogLevel::debug;
  initialize_log(options);
  EXPECT_THAT(captured(one_of_each).out, HasSubstr("a debug message"));
  options.level = LogLevel::error;
  initialize_log(options);
  const Output output = captured(one_of_each);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.err, "error: an error message\n");
}

TEST_F(Log, other_ranks_are_silent_and_write_no_file) {
  const recoil::testing::TemporaryFolder folder;
  LogOptions options;
  options.rank = 3;
  options.file = folder / "log.txt";
  initialize_log(options);
  const Output output = captured(one_of_each);
  EXPECT_EQ(output.out + output.err, "");
  EXPECT_FALSE(fs::exists(options.file));
  EXPECT_FALSE(log_shows(LogLevel::error));
}

TEST_F(Log, quiet_console_and_full_file) {
  const recoil::testing::TemporaryFolder folder;
  LogOptions options;
  options.quiet = true;
  options.file = folder / "log.txt";
  initialize_log(options);
  const Output output = captured(one_of_each);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("a warning message"));
  EXPECT_THAT(read(options.file), HasSubstr("info: an info message steps=3 residual=0.5\n"));
  initialize_log(options);
  log_info("second run");
  EXPECT_THAT(read(options.file), ::testing::AllOf(HasSubstr("an info message"), HasSubstr("second run")))
      << "a restart must not lose the log of the first run";
}

TEST_F(Log, json_lines) {
  LogOptions options;
  options.json_lines = true;
  initialize_log(options);
  const std::string nasty =
      "quote \" backslash \\ line\nend\ttab \x01 bad \xff\xc0\xaf cut \xe2\x82 umlaut \xc3\xbc";
  const Output output = captured([&] {
    log_info("step", {{"n", 7},
                      {"dt", 0.1},
                      {"ok", true},
                      {"name", nasty},
                      {"bad", std::numeric_limits<double>::infinity()},
                      {"tiny", 1.0 / 3}});
    log_warning(nasty);
  });
  EXPECT_EQ(output.err, "");
  std::istringstream lines(output.out);
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0]["level"], "info");
  EXPECT_EQ(objects[0]["message"], "step");
  EXPECT_EQ(objects[0]["n"], 7);
  EXPECT_EQ(objects[0]["ok"], true);
  EXPECT_EQ(objects[0]["dt"].get<double>(), 0.1);
  EXPECT_EQ(objects[0]["tiny"].get<double>(), 1.0 / 3);
  EXPECT_EQ(objects[0]["bad"], "inf");
  EXPECT_GT(objects[0]["time"].get<double>(), 1.6e9);
  EXPECT_EQ(objects[1]["level"], "warning");
  const std::string fffd = "\xef\xbf\xbd";
  EXPECT_EQ(objects[1]["message"], "quote \" backslash \\ line\nend\ttab \x01 bad " + fffd + fffd + fffd +
                                       " cut " + fffd + fffd + " umlaut \xc3\xbc");
}

TEST_F(Log, full_disk_warns_once_and_goes_on) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  LogOptions options;
  options.file = "/dev/full";
  initialize_log(options);
  const Output output = captured([] {
    for (int i = 0; i < 5; ++i) log_info("line");
  });
  EXPECT_EQ(output.out, "line\nline\nline\nline\nline\n");
  EXPECT_THAT(output.err, HasSubstr("No space left on device"));
  EXPECT_EQ(output.err.find("warning"), output.err.rfind("warning"));
}

TEST_F(Log, file_that_cannot_be_opened) {
  const recoil::testing::TemporaryFolder folder;
  LogOptions options;
  options.file = folder / "none" / "log.txt";
  try {
    initialize_log(options);
    FAIL() << "a log file in a missing folder must be refused";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr(options.file.string()));
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
}

TEST_F(Log, braces_and_percent_signs_are_ordinary_text) {
  initialize_log({});
  EXPECT_EQ(captured([] { log_info("{} {0} %s %d {"); }).out, "{} {0} %s %d {\n");
}

TEST_F(Log, lines_of_several_threads_stay_whole) {
  initialize_log({});
  const Output output = captured([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int k = 0; k < 200; ++k) log_info("0123456789");
      });
    for (auto& thread : threads) thread.join();
  });
  std::istringstream lines(output.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) ASSERT_EQ(line, "0123456789");
  EXPECT_EQ(count, 800);
}

} // namespace recoil::log_test
