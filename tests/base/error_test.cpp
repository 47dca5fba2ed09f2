#include "recoil/base/error.hpp"

#include <gtest/gtest.h>

#include "recoil/base/version.hpp"

namespace recoil::error_test {

TEST(Error, carries_exit_code_and_text) {
  try {
    throw InputError("scene.json:12", "nu = 0.7 is outside (-1, 0.5)");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    EXPECT_STREQ(error.what(), "scene.json:12: nu = 0.7 is outside (-1, 0.5)");
  }
  EXPECT_EQ(FileError("x").code(), ExitCode::file_error);
  EXPECT_EQ(LibraryError("x").code(), ExitCode::internal);
}

TEST(Error, assertion_aborts_with_the_expression_and_the_place) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const int two = 2;
  RECOIL_ASSERT(two == 2);
  EXPECT_DEATH(RECOIL_ASSERT(two + two == 5), "error_test.cpp:[0-9]+: .*two \\+ two == 5");
}

TEST(Version, names_version_and_compiler) {
  EXPECT_NE(version().find('.'), std::string::npos);
  EXPECT_NE(build_info().find(version()), std::string::npos);
  EXPECT_EQ(build_info().find('\n'), std::string::npos);
}

} // namespace recoil::error_test
