#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace recoil {

/// CRC-32 (polynomial of zlib and gzip) of `bytes`; `previous` is the CRC of what stands before them.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t previous = 0);

/// CRC-32 of two consecutive parts from the CRCs of each and the length of the second in bytes. Cost O(log
/// length).
std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_length);

/// CRC-32 of `length` bytes of a file from `offset` on, read in pieces of 1 MiB, so that ranks can share a
/// file and combine their parts. Not collective. @throws FileError when the file cannot be read or ends
/// before.
std::uint32_t file_crc32(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t length);

/// CRC-32 of a whole file.
std::uint32_t file_crc32(const std::filesystem::path& path);

} // namespace recoil
