#include "recoil/base/file_cursor.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace recoil::file_cursor_test {
using ::testing::EndsWith;
using ::testing::HasSubstr;

namespace {

template <class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST(FileCursor, reads_words_lines_and_numbers) {
  FileCursor cursor("one \t +2.5 -7\r\n  a line \t of words \r\n\nlast", "file");
  EXPECT_EQ(cursor.word(), "one");
  EXPECT_FALSE(cursor.skip_blanks());
  EXPECT_EQ(cursor.number("a number"), 2.5);
  EXPECT_EQ(cursor.integer("an integer"), -7);
  EXPECT_TRUE(cursor.skip_blanks());
  EXPECT_EQ(cursor.line(), "");
  EXPECT_EQ(cursor.line(), "a line \t of words");
  EXPECT_EQ(cursor.line(), "");
  EXPECT_EQ(cursor.line(), "last");
  EXPECT_EQ(cursor.line(), "");
  EXPECT_TRUE(cursor.skip_space());
  EXPECT_EQ(cursor.word(), "");
}

TEST(FileCursor, reads_binary_values_of_either_order) {
  const std::string bytes{1, 2, 3, 4, 4, 3, 2, 1};
  FileCursor cursor(bytes, "file");
  const auto first = cursor.binary<std::uint32_t>("a number");
  cursor.set_swapped(true);
  EXPECT_EQ(cursor.binary<std::uint32_t>("a number"), first);
  cursor.set_binary(true);
  EXPECT_EQ(message_of([&] { cursor.binary<char>("a letter"); }),
            "file, byte 8: the file ends within a letter");
}

TEST(FileCursor, names_the_line) {
  FileCursor cursor("1\n2\nx 9\n", "file");
  EXPECT_EQ(cursor.count("things", 1), 1u);
  cursor.skip_line();
  EXPECT_THAT(message_of([&] { FileCursor(cursor).count("things", 4); }),
              HasSubstr("file:2: announces 2 things, more than the rest of the file"));
  cursor.skip_line();
  EXPECT_EQ(message_of([&] { cursor.integer("an id"); }), "file:3: expected an integer for an id, found 'x'");
  EXPECT_EQ(message_of([&] { cursor.expect("y"); }),
            "file:3: expected y, found 'x'; the file is damaged or cut short");
  cursor.skip_line();
  EXPECT_EQ(message_of([&] { cursor.number("a mass"); }),
            "file:3: expected a number for a mass, found the end of the file")
      << "its last line is meant";
  EXPECT_THAT(message_of([&] { cursor.seek(99); }), HasSubstr("refers to byte 99 of a file of 8 bytes"));
}

TEST(FileCursor, reads_files_that_are_there) {
  const recoil::testing::TemporaryFolder folder;
  std::ofstream(folder / "file") << "text\n";
  EXPECT_EQ(read_input_file(folder / "file"), "text\n");
  std::ofstream(folder / "nothing").flush();
  EXPECT_THAT(message_of([&] { read_input_file(folder / "nothing"); }), EndsWith("nothing: is empty"));
  EXPECT_THAT(message_of([&] { read_input_file(folder / "none"); }), HasSubstr("none: no such file"));
  EXPECT_THAT(message_of([&] { read_input_file(folder.path()); }), HasSubstr("is a folder"));
}

} // namespace recoil::file_cursor_test
