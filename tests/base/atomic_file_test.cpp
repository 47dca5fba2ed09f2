#include "recoil/base/atomic_file.hpp"

#include <csignal>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/posix_file.hpp"
#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::atomic_file_test {
using ::testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Work>
std::string file_error_of(Work&& work) {
  try {
    work();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST(AtomicFile, creates_and_replaces) {
  const recoil::testing::TemporaryFolder folder;
  const fs::path path = folder / "manifest.json";
  write_file_atomically(path, "one");
  EXPECT_EQ(read(path), "one");
  const std::string longer(3'000'000, 'x');
  write_file_atomically(path, longer);
  EXPECT_EQ(read(path), longer);
  write_file_atomically(path, "");
  EXPECT_EQ(read(path), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "nothing else may be left behind";
}

TEST(AtomicFile, a_reader_sees_old_or_new_content_whole) {
  const recoil::testing::TemporaryFolder folder;
  const fs::path path = folder / "file";
  const std::string a(200'000, 'a'), b(100'000, 'b');
  write_file_atomically(path, a);
  const pid_t writer = fork();
  if (writer == 0) {
    for (int i = 0; i < 40; ++i) write_file_atomically(path, i % 2 ? a : b);
    _exit(0);
  }
  while (waitpid(writer, nullptr, WNOHANG) == 0) {
    const std::string seen = read(path);
    ASSERT_TRUE(seen == a || seen == b) << seen.size();
  }
}

TEST(AtomicFile, missing_folder) {
  const recoil::testing::TemporaryFolder folder;
  const auto message = file_error_of([&] { write_file_atomically(folder / "none" / "file", "x"); });
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
  EXPECT_THAT(message, HasSubstr((folder / "none").string() + "' does not exist"));
}

TEST(AtomicFile, read_only_folder) {
  const recoil::testing::TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                                     fs::perms::others_exec);
  // Root may write everywhere, so the attempt is made as `nobody`.
  constexpr uid_t nobody = 65534;
  const uid_t user = geteuid();
  ASSERT_EQ(seteuid(user == 0 ? nobody : user), 0);
  const auto message = file_error_of([&] { write_file_atomically(folder / "file", "x"); });
  ASSERT_EQ(seteuid(user), 0);
  EXPECT_THAT(message, HasSubstr("Permission denied"));
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(AtomicFile, a_file_in_the_place_of_the_folder) {
  const recoil::testing::TemporaryFolder folder;
  write_file_atomically(folder / "file", "x");
  EXPECT_THAT(file_error_of([&] { write_file_atomically(folder / "file" / "inner", "x"); }),
              HasSubstr("Not a directory"));
}

TEST(AtomicFile, full_disk_is_told) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const posix::Descriptor full = posix::open("/dev/full", O_WRONLY);
  const auto message = file_error_of([&] { posix::write_all(full, "new", "run/file"); });
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_THAT(message, HasSubstr("run/file"));
  EXPECT_THAT(message, HasSubstr("free some space"));
}

TEST(AtomicFile, what_stands_in_the_place_of_the_part_is_replaced_and_no_link_is_followed) {
  const recoil::testing::TemporaryFolder folder;
  std::ofstream(folder / "other") << "of somebody else";
  for (const bool link : {true, false}) {
    if (link)
      fs::create_symlink(folder / "other", folder / "file.part");
    else
      std::ofstream(folder / "file.part") << "left by a killed run, and longer than the new text";
    write_file_atomically(folder / "file", "new");
    EXPECT_EQ(read(folder / "file"), "new");
    EXPECT_FALSE(fs::is_symlink(folder / "file"));
    EXPECT_EQ(read(folder / "other"), "of somebody else");
  }
  fs::create_directory(folder / "file.part");
  EXPECT_THAT(file_error_of([&] { write_file_atomically(folder / "file", "newer"); }),
              HasSubstr((folder / "file.part").string()));
  EXPECT_EQ(read(folder / "file"), "new");
}

TEST(AtomicFile, failure_halfway_keeps_the_old_file) {
  const recoil::testing::TemporaryFolder folder;
  const fs::path path = folder / "file";
  write_file_atomically(path, "old");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto message = file_error_of([&] { write_file_atomically(path, std::string(1'000'000, 'n')); });
    _exit(message.find("File too large") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(read(path), "old");
  EXPECT_FALSE(fs::exists(folder / "file.part"));
}

TEST(AtomicFile, sync_and_rename) {
  const recoil::testing::TemporaryFolder folder;
  fs::create_directory(folder / "other");
  std::ofstream(folder / "a") << "text";
  fsync_file(folder / "a");
  fsync_folder(folder.path());
  rename_durably(folder / "a", folder / "other" / "b");
  EXPECT_FALSE(fs::exists(folder / "a"));
  EXPECT_EQ(read(folder / "other" / "b"), "text");
  EXPECT_THAT(file_error_of([&] { rename_durably(folder / "a", folder / "c"); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(file_error_of([&] { fsync_file(folder / "a"); }), HasSubstr((folder / "a").string()));
  EXPECT_THAT(file_error_of([&] { fsync_folder(folder / "none"); }), HasSubstr("No such file or directory"));
}

} // namespace recoil::atomic_file_test
