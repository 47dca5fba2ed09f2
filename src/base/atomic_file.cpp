#include "recoil/base/atomic_file.hpp"

#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/posix_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil {

namespace posix {

Descriptor open(const std::filesystem::path& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

Descriptor create_anew(const std::filesystem::path& path) {
  ::unlink(path.c_str());
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
}

void fail(const char* action, const std::filesystem::path& path, int error) {
  std::string message = std::string("cannot ") + action + " '" + path.string() + "': " + std::strerror(error);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code ignored;
  if (error == ENOSPC || error == EDQUOT)
    message += "; free some space or write to another file system";
  else if (error == ENOENT && !std::filesystem::exists(folder, ignored))
    message += "; the folder '" + folder.string() + "' does not exist";
  throw FileError(message);
}

void write_all(const Descriptor& file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    text.remove_prefix(written);
  }
}

void sync(const Descriptor& file, const std::filesystem::path& path) {
  int result = 0;
  do {
    result = ::fsync(file.get());
  } while (result != 0 && errno == EINTR);
  // Pipes, devices and some file systems have nothing to sync.
  if (result != 0 && errno != EINVAL && errno != ENOTSUP) fail("sync", path);
}

} // namespace posix

namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

} // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path part = path;
  part += ".part";
  posix::Descriptor file = posix::create_anew(part);
  if (!file.ok()) posix::fail("write", part);
  try {
    posix::write_all(file, text, path);
    posix::sync(file, path);
    if (!file.close()) posix::fail("write", path);
    rename_durably(part, path);
  } catch (...) {
    file.close();
    ::unlink(part.c_str());
    throw;
  }
}

bool append_to_file(const std::filesystem::path& path, std::string_view bytes) {
  posix::Descriptor file = posix::open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
  while (file.ok() && !bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(put);
  }
  return file.ok() && file.close();
}

void fsync_file(const std::filesystem::path& path) {
  const posix::Descriptor file = posix::open(path, O_RDONLY);
  if (!file.ok()) posix::fail("open", path);
  posix::sync(file, path);
}

void fsync_folder(const std::filesystem::path& folder) {
  const posix::Descriptor descriptor = posix::open(folder, O_RDONLY | O_DIRECTORY);
  if (!descriptor.ok()) posix::fail("open the folder", folder);
  posix::sync(descriptor, folder);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    const int error = errno;
    posix::fail(("rename '" + from.string() + "' to").c_str(), to, error);
  }
  fsync_folder(folder_of(to));
  if (folder_of(from) != folder_of(to)) fsync_folder(folder_of(from));
}

} // namespace recoil
