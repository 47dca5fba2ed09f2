#include "recoil/base/read_file.hpp"

#include <array>

#include <fcntl.h>
#include <unistd.h>

#include "base/posix_file.hpp"

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
  const posix::Descriptor file = posix::open(path, O_RDONLY);
  if (!file.ok()) posix::fail("open", path);
  return posix::read_all(file, path);
}

} // namespace recoil
