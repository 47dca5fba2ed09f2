#include "recoil/base/folder_lock.hpp"

#include <csignal>
#include <fstream>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::folder_lock_test {
using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::string refusal(const fs::path& folder, std::chrono::milliseconds patience = 50ms) {
  try {
    const FolderLock lock(folder, patience);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

// A process that holds the lock of `folder` until it is killed.
class HoldingProcess {
public:
  explicit HoldingProcess(const fs::path& folder) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const FolderLock lock(folder);
      EXPECT_EQ(write(ends[1], "k", 1), 1);
      while (true) pause();
    }
    char locked = 0;
    EXPECT_EQ(read(ends[0], &locked, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  ~HoldingProcess() {
    kill();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  void kill() { ::kill(pid_, SIGKILL); }
  pid_t pid() const { return pid_; }

private:
  pid_t pid_ = 0;
};

} // namespace

TEST(FolderLock, is_given_back) {
  const recoil::testing::TemporaryFolder folder;
  fs::path file;
  {
    FolderLock lock(folder.path());
    file = lock.file();
    EXPECT_TRUE(fs::exists(file));
    EXPECT_THAT(refusal(folder.path()), HasSubstr("in use")) << "the same process may not lock twice";
    FolderLock moved(std::move(lock));
    EXPECT_TRUE(fs::exists(file));
    std::optional<FolderLock> again;
    again = std::move(moved);
    EXPECT_THAT(refusal(folder.path()), HasSubstr("in use"));
  }
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(refusal(folder.path()), "");
}

TEST(FolderLock, second_process_is_told_who_holds_it) {
  const recoil::testing::TemporaryFolder folder;
  const HoldingProcess holder(folder.path());
  const std::string message = refusal(folder.path());
  EXPECT_THAT(message, HasSubstr("process " + std::to_string(holder.pid())));
  EXPECT_THAT(message, HasSubstr("test_base"));
  EXPECT_THAT(message, HasSubstr("recoil.lock"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(FolderLock, lock_of_a_killed_process_is_taken_over) {
  const recoil::testing::TemporaryFolder folder;
  HoldingProcess holder(folder.path());
  holder.kill();
  // The dead process is not waited for yet: as a zombie its number still answers.
  EXPECT_EQ(refusal(folder.path(), 1000ms), "");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(FolderLock, waits_for_a_dying_process) {
  const recoil::testing::TemporaryFolder folder;
  HoldingProcess holder(folder.path());
  std::thread killer([&] {
    std::this_thread::sleep_for(200ms);
    holder.kill();
  });
  EXPECT_EQ(refusal(folder.path(), 5000ms), "");
  killer.join();
}

TEST(FolderLock, lock_of_another_host_stands) {
  const recoil::testing::TemporaryFolder folder;
  std::ofstream(folder / "recoil.lock")
      << "host elsewhere.example\npid 1\nboot b\nstart 5\ncommand mpirun recoil\n";
  const auto start = std::chrono::steady_clock::now();
  const std::string message = refusal(folder.path(), 10s);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s) << "waiting for another host is of no use";
  EXPECT_THAT(message, HasSubstr("'elsewhere.example'"));
  EXPECT_THAT(message, HasSubstr("mpirun recoil"));
}

TEST(FolderLock, a_reused_process_number_or_a_restarted_machine_is_seen) {
  const recoil::testing::TemporaryFolder folder;
  std::string content;
  {
    const FolderLock lock(folder.path());
    std::ifstream file(lock.file());
    content.assign(std::istreambuf_iterator<char>(file), {});
  }
  for (const std::string key : {"start ", "boot "}) {
    const std::size_t begin = content.find(key) + key.size();
    if (content[begin] == '\n') continue; // the system does not tell
    std::string other = content;
    other[begin] = other[begin] == '1' ? '2' : '1';
    std::ofstream(folder / "recoil.lock") << other;
    EXPECT_EQ(refusal(folder.path()), "") << key;
  }
}

TEST(FolderLock, damaged_lock_is_not_ignored) {
  const recoil::testing::TemporaryFolder folder;
  std::ofstream(folder / "recoil.lock") << "";
  EXPECT_THAT(refusal(folder.path()), HasSubstr("unknown process"));
}

TEST(FolderLock, what_is_no_file_is_no_lock) {
  const recoil::testing::TemporaryFolder folder;
  const fs::path lock = folder / "recoil.lock";
  fs::create_directory(lock);
  const auto since = std::chrono::steady_clock::now();
  EXPECT_THAT(refusal(folder.path(), 60s), HasSubstr("'" + lock.string() + "' is no lock"));
  EXPECT_LT(std::chrono::steady_clock::now() - since, 10s) << "no use in waiting for a folder to go";
  fs::remove(lock);
  fs::create_symlink(folder / "nowhere", lock);
  EXPECT_THAT(refusal(folder.path()), HasSubstr("'" + lock.string() + "' is no lock"));
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

TEST(FolderLock, missing_folder) {
  const recoil::testing::TemporaryFolder folder;
  EXPECT_THAT(refusal(folder / "none"), HasSubstr("no folder"));
}

TEST(FolderLock, lock_of_another_is_not_removed) {
  const recoil::testing::TemporaryFolder folder;
  {
    const FolderLock lock(folder.path());
    std::ofstream(lock.file()) << "host other\npid 7\n";
  }
  EXPECT_TRUE(fs::exists(folder / "recoil.lock"));
}

TEST(FolderLock, only_one_of_many_takes_over_a_stale_lock) {
  for (int round = 0; round < 10; ++round) {
    const recoil::testing::TemporaryFolder folder;
    {
      HoldingProcess holder(folder.path());
      holder.kill();
    }
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      try {
        const FolderLock lock(folder.path(), 10s);
        // Two holders at once would meet in this file.
        const fs::path inside = folder / "inside";
        const int fd = open(inside.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0) _exit(2);
        close(fd);
        usleep(2000);
        unlink(inside.c_str());
      } catch (const FileError&) {
        _exit(1);
      }
      _exit(0);
    }
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      ASSERT_TRUE(WIFEXITED(status));
      EXPECT_EQ(WEXITSTATUS(status), 0) << "1: never got the lock, 2: two held it at once";
    }
  }
}

} // namespace recoil::folder_lock_test
