#include "recoil/base/crc32.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "base/posix_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil {

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t previous) {
  if (bytes.empty()) return previous; // zlib takes a null pointer for a request of the start value
  return static_cast<std::uint32_t>(
      ::crc32_z(previous, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_length) {
  // z_off_t is 64 bits wide wherever off_t is.
  static_assert(sizeof(z_off_t) == 8, "build with 64-bit file offsets");
  return static_cast<std::uint32_t>(::crc32_combine(first, second, second_length));
}

std::uint32_t file_crc32(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t length) {
  const posix::Descriptor file = posix::open(path, O_RDONLY);
  if (!file.ok()) posix::fail("open", path);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(length, std::uint64_t(1) << 20));
  std::uint32_t crc = 0;
  while (length > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(length, buffer.size());
    const ssize_t count = ::pread(file.get(), buffer.data(), wanted, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) posix::fail("read", path);
    if (count == 0)
      throw FileError("'" + path.string() + "' ends at byte " + std::to_string(offset) + ", " +
                      std::to_string(length) + " bytes short; it is truncated");
    const std::size_t got = count;
    crc = crc32(std::span<const std::byte>(buffer.data(), got), crc);
    offset += got;
    length -= got;
  }
  return crc;
}

std::uint32_t file_crc32(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) posix::fail("read", path, error.value());
  return file_crc32(path, 0, size);
}

} // namespace recoil
