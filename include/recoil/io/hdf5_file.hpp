#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/parallel/communicator.hpp"

/// The only door to HDF5. Arrays are two-dimensional (rows, columns) of double, std::int32_t or std::int64_t,
/// in chunks of about 1 MiB with a fletcher32 checksum each, in the format of libver v110 (checksummed
/// metadata).
///
/// Writing does not go through MPI-IO, where a full disk leaves ranks waiting in half a collective call
/// (measured on three ranks). The first rank lays the array out with a serial driver, then every rank puts
/// its chunks in place with pwrite: a failing write is an ordinary local error, agreed upon afterwards.
namespace recoil::io {

enum class ElementType { float64, int32, int64 };

/// The HDF5 type of double, std::int32_t or std::int64_t.
template <class T>
requires std::same_as<T, double> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>
constexpr ElementType element_type = std::is_same_v<T, double>         ? ElementType::float64
                                     : std::is_same_v<T, std::int32_t> ? ElementType::int32
                                                                       : ElementType::int64;

/// What an array in a file looks like.
struct ArrayShape {
  GlobalIndex rows = 0;
  int columns = 1;
  ElementType type = ElementType::float64;
};

/// What a file that was closed outlives: a failing machine, for which it is forced to the disk, or just the
/// end of the process.
enum class Durability { machine, process };

/// A new file, filled by all ranks together. Every member is collective and throws the same FileError (with
/// path, dataset and HDF5's message) on all ranks; the destructor is not collective and leaves an unfinished
/// file behind.
class Hdf5Writer {
public:
  /// Creates or replaces `path`.
  Hdf5Writer(const parallel::Communicator& comm, const std::filesystem::path& path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// Writes a new array; missing groups of `name` ("states/12/u") are made. The ranks hold consecutive rows
  /// in rank order, any number each, none included. T is double, std::int32_t or std::int64_t.
  template <class T>
  void write_rows(const std::string& name, std::span<const T> rows, int columns);
  /// Writes a text as attribute of the group or array `object` ("/" is the file). The first rank's value
  /// counts.
  void write_attribute(const std::string& object, const std::string& name, const std::string& text);
  /// Closes the file on all ranks. It is complete only after this.
  void close(Durability durability = Durability::machine);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A finished file, open for reading on every rank. Each rank reads by itself; only where it says so are
/// members collective. Errors are FileErrors with path, array and HDF5's message.
class Hdf5Reader {
public:
  /// Opens `path` on this rank. Not collective.
  explicit Hdf5Reader(const std::filesystem::path& path);
  ~Hdf5Reader();
  Hdf5Reader(Hdf5Reader&&) noexcept;
  Hdf5Reader& operator=(Hdf5Reader&&) noexcept;

  bool contains(const std::string& name) const;
  /// Names in a group, sorted.
  std::vector<std::string> children(const std::string& group) const;
  /// A list counts as a table of one column.
  ArrayShape shape(const std::string& name) const;
  /// Rows begin..end-1, row-major. T must be the type in the file. Not collective.
  template <class T>
  std::vector<T> read_rows(const std::string& name, GlobalIndex begin, GlobalIndex end) const;
  /// Extents of an array of any number of dimensions.
  std::vector<GlobalIndex> extents(const std::string& name) const;
  /// All numbers of an array of any number of dimensions, the last index running fastest; those of other
  /// types are converted. Not collective.
  std::vector<double> read_all(const std::string& name) const;
  std::string read_attribute(const std::string& object, const std::string& name) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Size and CRC-32 of a file.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

/// Reads the file once, in equal parts on all ranks. @throws FileError on all ranks. Collective.
FileDigest digest(const parallel::Communicator& comm, const std::filesystem::path& path);

} // namespace recoil::io
