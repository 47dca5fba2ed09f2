#include "recoil/base/crc32.hpp"

#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::crc32_test {

namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::filesystem::path write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

} // namespace

TEST(Crc32, check_value_of_the_standard) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(digits))), 0xCBF43926u);
  EXPECT_EQ(crc32({}), 0u);
  EXPECT_EQ(crc32({}, 77u), 77u);
}

TEST(Crc32, continues_and_combines) {
  const auto bytes = random_bytes(10'000);
  const std::span all(bytes);
  const std::uint32_t whole = crc32(all);
  for (const std::size_t cut : {0u, 1u, 4096u, 9'999u, 10'000u}) {
    EXPECT_EQ(crc32(all.subspan(cut), crc32(all.first(cut))), whole);
    EXPECT_EQ(crc32_combine(crc32(all.first(cut)), crc32(all.subspan(cut)), bytes.size() - cut), whole);
  }
  auto flipped = bytes;
  flipped[5000] ^= std::byte{4};
  EXPECT_NE(crc32(flipped), whole);
}

TEST(Crc32, of_parts_of_a_file) {
  const recoil::testing::TemporaryFolder folder;
  const auto bytes = random_bytes((std::size_t(1) << 20) * 2 + 17);
  const auto path = write(folder / "data", bytes);
  const std::span all(bytes);
  EXPECT_EQ(file_crc32(path), crc32(all));
  EXPECT_EQ(file_crc32(path, 1000, 1'500'000), crc32(all.subspan(1000, 1'500'000)));
  EXPECT_EQ(file_crc32(path, 5, 0), 0u);
  EXPECT_EQ(file_crc32(write(folder / "empty", {})), 0u);
}

TEST(Crc32, tells_of_short_and_missing_files) {
  const recoil::testing::TemporaryFolder folder;
  const auto path = write(folder / "short", random_bytes(100));
  try {
    file_crc32(path, 60, 50);
    FAIL() << "a file that ends early must be refused";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("truncated"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
  }
  EXPECT_THROW(file_crc32(folder / "missing"), FileError);
  EXPECT_THROW(file_crc32(folder.path()), FileError);
}

} // namespace recoil::crc32_test
