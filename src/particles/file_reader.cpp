#include "particles/file_reader.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::particles {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool is_space(char c) { return is_blank(c) || c == '\n'; }

} // namespace

FileReader::FileReader(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw InputError(path.string(), "no such file; check the path of the particles");
  if (std::filesystem::is_directory(status)) throw InputError(path.string(), "is a folder, not a file");
  try {
    content_ = read_file(path);
  } catch (const FileError& reason) {
    throw InputError(reason.what());
  }
  if (content_.empty()) throw InputError(path.string(), "is empty");
  if (content_.starts_with("\xef\xbb\xbf")) position_ = 3; // UTF-8 byte order mark
}

void FileReader::fail_at(std::size_t position, const std::string& message) const {
  position = std::min(position, content_.size());
  if (binary_) throw InputError(path_.string() + ", byte " + std::to_string(position), message);
  // At the end of a file its last line is meant.
  if (position == content_.size() && position > 0 && content_[position - 1] == '\n') --position;
  const auto line = 1 + std::count(content_.begin(), content_.begin() + position, '\n');
  throw InputError(path_.string() + ":" + std::to_string(line), message);
}

bool FileReader::at_end() {
  while (position_ < content_.size() && is_space(content_[position_])) ++position_;
  return position_ == content_.size();
}

bool FileReader::at_line_end() {
  while (position_ < content_.size() && is_blank(content_[position_])) ++position_;
  return position_ == content_.size() || content_[position_] == '\n';
}

std::string_view FileReader::peek_word() {
  at_end();
  std::size_t end = position_;
  while (end < content_.size() && !is_space(content_[end])) ++end;
  return std::string_view(content_).substr(position_, end - position_);
}

std::string_view FileReader::word(const char* what) {
  const std::string_view text = peek_word();
  if (text.empty()) fail(std::string("the file ends before ") + what + "; it is cut short");
  position_ += text.size();
  return text;
}

std::string_view FileReader::line() {
  at_line_end();
  const std::size_t end = std::min(content_.find('\n', position_), content_.size());
  std::string_view text = std::string_view(content_).substr(position_, end - position_);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  position_ = std::min(end + 1, content_.size());
  return text;
}

double FileReader::number(const char* what) {
  const std::string_view text = word(what);
  return parse_number(*this, position_ - text.size(), text, what);
}

std::int64_t FileReader::integer(const char* what) {
  const std::string_view text = word(what);
  return parse_integer(*this, position_ - text.size(), text, what);
}

std::size_t FileReader::count(const char* what, std::size_t bytes) {
  const std::int64_t value = integer(what);
  if (value < 0) fail(std::string(what) + " is negative");
  // The last item of a text file needs no separator behind it.
  if (static_cast<std::size_t>(value) > (remaining() + 1) / bytes)
    fail(std::string(what) + " is " + std::to_string(value) + ", more than the rest of the file (" +
         std::to_string(remaining()) + " bytes) can hold; the file is damaged or cut short");
  return value;
}

void FileReader::take_reversed(char* bytes, std::size_t size, const char* what) {
  if (remaining() < size) fail(std::string("the file ends within ") + what + "; it is cut short");
  std::memcpy(bytes, content_.data() + position_, size);
  if constexpr (std::endian::native == std::endian::little) std::reverse(bytes, bytes + size);
  position_ += size;
}

std::string in_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, 40)) text += (c >= 32 && c < 127) ? c : '?';
  return text + (word.size() > 40 ? "...'" : "'");
}

double parse_number(const FileReader& file, std::size_t position, std::string_view word, const char* what) {
  std::string_view digits = word;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // Below the smallest number is zero.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  const bool read = error == std::errc() || error == std::errc::result_out_of_range;
  if (!read || stop != digits.data() + digits.size() || !std::isfinite(value))
    file.fail_at(position, std::string("expected a number for ") + what + ", found " + in_quotes(word));
  return value;
}

std::int64_t parse_integer(const FileReader& file, std::size_t position, std::string_view word,
                           const char* what) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || stop != word.data() + word.size())
    file.fail_at(position, std::string("expected an integer for ") + what + ", found " + in_quotes(word));
  return value;
}

} // namespace recoil::particles
