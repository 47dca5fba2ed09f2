#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace recoil::posix {

/// A file descriptor that is closed at the end of its life.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  bool ok() const { return fd_ >= 0; }
  /// False when closing reports a failure (network file systems tell of a full disk here).
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

private:
  int fd_;
};

/// open(2) without interruption by signals; check ok().
Descriptor open(const std::filesystem::path& path, int flags);

/// Makes a file of this process alone at `path`, open for writing: what stands there is removed, a link is
/// not followed; check ok().
Descriptor create_anew(const std::filesystem::path& path);

/// Throws FileError "cannot `action` '`path`': `reason of errno`", with a hint where one helps.
[[noreturn]] void fail(const char* action, const std::filesystem::path& path, int error = errno);

/// What is left to read. @throws FileError naming `path`.
std::string read_all(const Descriptor& file, const std::filesystem::path& path);

/// Writes all of `text`. @throws FileError naming `path`.
void write_all(const Descriptor& file, std::string_view text, const std::filesystem::path& path);

/// Syncs an open file. @throws FileError naming `path`.
void sync(const Descriptor& file, const std::filesystem::path& path);

} // namespace recoil::posix
