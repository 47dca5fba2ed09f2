#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "recoil/base/error.hpp"

namespace recoil {

/// The whole content of an input file. @throws InputError if it cannot be read, is a folder or is empty.
std::string read_input_file(const std::filesystem::path& path);

/// A place in the content of a file, with what formats need to read on: words, lines, numbers and binary
/// values. Every trouble is an InputError naming file and line (text) or file and byte (binary).
class FileCursor {
public:
  FileCursor(std::string_view content, std::string name) : content_(content), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::size_t position() const { return position_; }
  std::size_t size() const { return content_.size(); }
  std::size_t remaining() const { return content_.size() - position_; }
  std::string_view content() const { return content_; }
  /// @throws InputError if `position` lies outside of the file.
  void seek(std::size_t position);

  /// Errors from here on name the byte instead of the line.
  void set_binary(bool binary) { binary_ = binary; }
  /// Bytes of binary values are in the other order than on this machine.
  void set_swapped(bool swapped) { swapped_ = swapped; }

  /// Skips white space; true at the end of the file.
  bool skip_space();
  /// Skips blanks but not the end of the line; true if the line (or the file) ends here.
  bool skip_blanks();
  void skip_line();
  /// What is left of the line, without blanks at its ends; goes to the next line.
  std::string_view line();
  /// The next characters up to white space; empty at the end of the file.
  std::string_view word();
  /// The next word without reading it.
  std::string_view peek_word();
  /// The next word must be `expected`.
  void expect(std::string_view expected);
  /// Numbers; `what` is named in errors. Not-a-number and infinity are refused.
  double number(const char* what);
  std::int64_t integer(const char* what);
  /// An integer that fits 32 bits.
  std::int32_t small_integer(const char* what);
  /// A count of things that take at least `min_bytes` bytes each: refused when the rest of the file cannot
  /// hold them, so that a damaged count never leads to a huge allocation.
  std::size_t count(const char* what, std::size_t min_bytes);
  std::size_t check_count(std::uint64_t count, const char* what, std::size_t min_bytes) const;

  /// The next value in binary.
  template <class T>
  T binary(const char* what) {
    if (remaining() < sizeof(T)) fail(std::string("the file ends within ") + what);
    unsigned char bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes[swapped_ ? sizeof(T) - 1 - i : i] = content_[position_ + i];
    position_ += sizeof(T);
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
  /// A coordinate in binary; refused unless finite.
  double binary_coordinate();

  /// @throws InputError "file:line: message" or "file, byte n: message" for the place last read.
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;

private:
  /// The next word for messages.
  std::string next();

  std::string_view content_;
  std::string name_;
  std::size_t position_ = 0;
  bool binary_ = false, swapped_ = false;
};

/// `word` in quotes, shortened and free of control characters, for messages.
std::string in_quotes(std::string_view word);

} // namespace recoil
