#include "particles/readers.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace recoil::particles {

FileCursor begin_of_text(std::string_view content, const std::filesystem::path& path) {
  FileCursor cursor(content, path.string());
  if (content.starts_with("\xef\xbb\xbf")) cursor.seek(3);
  return cursor;
}

double parse_number(const FileCursor& file, std::size_t position, std::string_view word, const char* what) {
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

std::int64_t parse_integer(const FileCursor& file, std::size_t position, std::string_view word,
                           const char* what) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || stop != word.data() + word.size())
    file.fail_at(position, std::string("expected an integer for ") + what + ", found " + in_quotes(word));
  return value;
}

} // namespace recoil::particles
