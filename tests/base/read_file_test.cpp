#include "recoil/base/read_file.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::read_file_test {
using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(ReadFile, gives_every_byte) {
  const recoil::testing::TemporaryFolder folder;
  for (const std::size_t length : {0, 1, 65536, 200'001}) {
    std::string text(length, '\0');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i % 251);
    std::ofstream(folder / "file", std::ios::binary) << text;
    EXPECT_EQ(read_file(folder / "file"), text);
  }
}

TEST(ReadFile, says_why_not) {
  const recoil::testing::TemporaryFolder folder;
  const auto reason = [](const fs::path& path) {
    try {
      return "read: " + read_file(path);
    } catch (const FileError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(reason(folder / "none"), HasSubstr((folder / "none").string() + "': No such file"));
  EXPECT_THAT(reason(folder.path()), HasSubstr("Is a directory"));
}

} // namespace recoil::read_file_test
