#include "recoil/base/read_file.hpp"

#include <array>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/posix_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil {

std::string posix::read_all(const Descriptor& file, const std::filesystem::path& path) {
  std::string content;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) return content;
    content.append(buffer.data(), got);
  }
}

std::string read_file(const std::filesystem::path& path) {
  // A pipe without a writer would keep open() waiting.
  const posix::Descriptor file = posix::open(path, O_RDONLY | O_NONBLOCK);
  if (!file.ok()) posix::fail("open", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) posix::fail("read", path);
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    throw FileError("cannot read '" + path.string() + "': it is a device or a pipe, not a file");
  return posix::read_all(file, path);
}

} // namespace recoil
