#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "recoil/particles/read_particles.hpp"

namespace recoil::particles {

/// A particle file in memory and a place in it. Every trouble is an InputError that names file and line (in
/// binary data file and byte).
class FileReader {
public:
  /// @throws InputError for a file that is absent, a folder, or empty.
  explicit FileReader(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return content_.size() - position_; }
  void set_binary(bool binary) { binary_ = binary; }

  /// Skips white space; true at the end of the file.
  bool at_end();
  /// Skips blanks within the line; true at the end of the line.
  bool at_line_end();
  /// The next word; `what` it should be, for the message at the end of the file.
  std::string_view word(const char* what);
  std::string_view peek_word();
  /// What is left of the line, without blanks at its ends; goes to the next line.
  std::string_view line();
  /// Finite numbers.
  double number(const char* what);
  std::int64_t integer(const char* what);
  /// How many things follow that take at least `bytes` bytes each: no more than the file can hold.
  std::size_t count(const char* what, std::size_t bytes);
  /// The next value in binary, most significant byte first.
  template <class T>
  T big_endian(const char* what) {
    std::array<char, sizeof(T)> bytes;
    take_reversed(bytes.data(), bytes.size(), what);
    T value;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  [[noreturn]] void fail(const std::string& message) const { fail_at(position_, message); }
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;

private:
  void take_reversed(char* bytes, std::size_t size, const char* what);

  std::filesystem::path path_;
  std::string content_;
  std::size_t position_ = 0;
  bool binary_ = false;
};

/// `word` in quotes, shortened and free of control characters.
std::string in_quotes(std::string_view word);

/// The number that all of `word` is. @throws InputError at `position` unless it is one and finite.
double parse_number(const FileReader& file, std::size_t position, std::string_view word, const char* what);
std::int64_t parse_integer(const FileReader& file, std::size_t position, std::string_view word,
                           const char* what);

// One reader per format, behind read_particles().
ParticleSet read_csv(FileReader& file, const ParticleFileOptions& options);
ParticleSet read_lammps(FileReader& file, const ParticleFileOptions& options);
ParticleSet read_vtk(FileReader& file, const ParticleFileOptions& options);

} // namespace recoil::particles
