#include "recoil/base/file_cursor.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "recoil/base/read_file.hpp"

namespace recoil {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool is_white(char c) { return is_blank(c) || c == '\n'; }

} // namespace

std::string read_input_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw InputError(path.string(),
                     "no such file; check the path, which is relative to the folder of the scene");
  if (std::filesystem::is_directory(status)) throw InputError(path.string(), "is a folder, not a file");
  std::string content;
  try {
    content = read_file(path);
  } catch (const FileError& reason) {
    throw InputError(reason.what());
  }
  if (content.empty()) throw InputError(path.string(), "is empty");
  return content;
}

std::string in_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, 40)) text += (c >= 32 && c < 127) ? c : '?';
  return text + (word.size() > 40 ? "...'" : "'");
}

void FileCursor::fail_at(std::size_t position, const std::string& message) const {
  position = std::min(position, content_.size());
  if (binary_) throw InputError(name_ + ", byte " + std::to_string(position), message);
  // At the end of a file its last line is meant.
  if (position == content_.size() && position > 0 && content_[position - 1] == '\n') --position;
  const auto end = content_.begin() + position;
  const auto line = 1 + std::count(content_.begin(), end, '\n');
  throw InputError(name_ + ":" + std::to_string(line), message);
}

void FileCursor::fail(const std::string& message) const { fail_at(position_, message); }

void FileCursor::seek(std::size_t position) {
  if (position > content_.size())
    fail("refers to byte " + std::to_string(position) + " of a file of " + std::to_string(content_.size()) +
         " bytes; the file is damaged or cut short");
  position_ = position;
}

bool FileCursor::skip_space() {
  while (position_ < content_.size() && is_white(content_[position_])) ++position_;
  return position_ == content_.size();
}

bool FileCursor::skip_blanks() {
  while (position_ < content_.size() && is_blank(content_[position_])) ++position_;
  return position_ == content_.size() || content_[position_] == '\n';
}

void FileCursor::skip_line() {
  const auto end = content_.find('\n', position_);
  position_ = end == std::string_view::npos ? content_.size() : end + 1;
}

std::string_view FileCursor::line() {
  skip_blanks();
  const std::size_t end = std::min(content_.find('\n', position_), content_.size());
  std::string_view text = content_.substr(position_, end - position_);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  position_ = std::min(end + 1, content_.size());
  return text;
}

std::string_view FileCursor::peek_word() {
  skip_space();
  std::size_t end = position_;
  while (end < content_.size() && !is_white(content_[end])) ++end;
  return content_.substr(position_, end - position_);
}

std::string_view FileCursor::word() {
  const auto text = peek_word();
  position_ += text.size();
  return text;
}

std::string FileCursor::next() {
  const auto text = peek_word();
  return text.empty() ? "the end of the file" : in_quotes(text);
}

void FileCursor::expect(std::string_view expected) {
  if (peek_word() != expected)
    fail("expected " + std::string(expected) + ", found " + next() + "; the file is damaged or cut short");
  position_ += expected.size();
}

double FileCursor::number(const char* what) {
  skip_space();
  const char* begin = content_.data() + position_;
  const char* end = content_.data() + content_.size();
  if (begin != end && *begin == '+') ++begin;
  double value = 0;
  auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(begin, stop).c_str(), nullptr); // underflow is harmless, overflow is not
  else if (error != std::errc())
    stop = begin;
  if (stop == begin || (stop != end && !is_white(*stop)) || !std::isfinite(value))
    fail(std::string("expected a number for ") + what + ", found " + next());
  position_ = stop - content_.data();
  return value;
}

std::int64_t FileCursor::integer(const char* what) {
  skip_space();
  const char* begin = content_.data() + position_;
  const char* end = content_.data() + content_.size();
  if (begin != end && *begin == '+') ++begin;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || (stop != end && !is_white(*stop)))
    fail(std::string("expected an integer for ") + what + ", found " + next());
  position_ = stop - content_.data();
  return value;
}

std::int32_t FileCursor::small_integer(const char* what) {
  const auto value = integer(what);
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
    fail(std::string(what) + " " + std::to_string(value) + " does not fit 32 bits");
  return value;
}

std::size_t FileCursor::check_count(std::uint64_t count, const char* what, std::size_t min_bytes) const {
  // the last item of a text file needs no separator behind it
  if (count > (remaining() + 1) / min_bytes)
    fail("announces " + std::to_string(count) + " " + what + ", more than the rest of the file (" +
         std::to_string(remaining()) + " bytes) can hold; the file is damaged or cut short");
  if (count > std::size_t{std::numeric_limits<std::int32_t>::max()})
    fail(std::to_string(count) + " " + what + " are more than 32-bit indices can number");
  return count;
}

std::size_t FileCursor::count(const char* what, std::size_t min_bytes) {
  const auto value = integer(what);
  if (value < 0) fail(std::string("the count of ") + what + " is negative (" + std::to_string(value) + ")");
  return check_count(value, what, min_bytes);
}

double FileCursor::binary_coordinate() {
  const auto value = binary<double>("a coordinate");
  if (!std::isfinite(value))
    fail_at(position_ - sizeof(double), "a coordinate is not finite; the file is damaged");
  return value;
}

} // namespace recoil
