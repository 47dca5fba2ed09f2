#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recoil/base/file_cursor.hpp"
#include "recoil/parallel/communicator.hpp"

/// Files that are read in parts, of which no rank holds the whole.
namespace recoil::mesh {

/// Parts of a file through a buffer.
class FileParts {
public:
  /// @param window bytes that are read ahead. @throws InputError if the file does not open.
  FileParts(const std::filesystem::path& path, std::int64_t window);

  std::int64_t size() const { return size_; }
  std::int64_t window() const { return window_; }
  /// The bytes [begin, end), up to the next call. @throws InputError beyond the end of the file.
  std::string_view read(std::int64_t begin, std::int64_t end);

private:
  std::ifstream in_;
  std::string buffer_;
  std::int64_t size_ = 0, window_, first_ = 0;
};

/// Whether `work` meets no InputError here nor on other ranks; other errors are thrown on all of them.
/// Collective.
template <class Work>
bool all_succeed(const parallel::Communicator& comm, const Work& work) {
  bool fine = true;
  parallel::collectively(comm, [&] {
    try {
      work();
    } catch (const InputError&) {
      fine = false;
    }
  });
  return comm.all(fine);
}

/// Where lines of a text begin: every 256th of them, from where the others are counted.
class LineIndex {
public:
  /// Every rank scans its part of the file. None on every rank if one cannot read its part. Collective.
  static std::optional<LineIndex> make(const parallel::Communicator& comm, const std::filesystem::path& path);

  /// The byte at which a line (counted from 0) begins. @throws InputError if there are fewer.
  std::int64_t byte_of(FileParts& file, std::int64_t line) const;

private:
  std::vector<std::pair<std::int64_t, std::int64_t>> known_{{0, 0}}; ///< ascending lines with their bytes
};

/// Calls act(cursor, k) for k = 0 .. count - 1 at the begin of the lines `first` + k, which must read all of
/// its line and no more. @throws InputError if it does not, or if there are fewer lines.
template <class Act>
void read_lines(FileParts& file, const LineIndex& index, std::int64_t first, std::int64_t count,
                const Act& act) {
  const auto refuse = [] { throw InputError("a line of a mesh file holds more or less than one item"); };
  // Not more than is likely to be needed: the next lines are then in the same buffer.
  constexpr std::int64_t bytes_of_a_line = 128;
  std::int64_t begin = count > 0 ? index.byte_of(file, first) : 0,
               reach = std::min(file.window(), bytes_of_a_line * std::max<std::int64_t>(count, 1));
  for (std::int64_t k = 0; k < count;) {
    const std::int64_t end = std::min(file.size(), begin + reach);
    std::string_view text = file.read(begin, end);
    if (end < file.size()) {
      const auto last = text.rfind('\n');
      text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    }
    if (text.empty()) {
      if (end == file.size()) refuse();
      reach *= 2;
      continue;
    }
    FileCursor cursor(text, "");
    for (; k < count && cursor.remaining() > 0; ++k) {
      const std::size_t line_end = std::min(text.find('\n', cursor.position()), text.size());
      act(cursor, k);
      if (cursor.position() > line_end || !cursor.skip_blanks()) refuse();
      cursor.skip_line();
    }
    begin += std::int64_t(cursor.position());
  }
}

} // namespace recoil::mesh
