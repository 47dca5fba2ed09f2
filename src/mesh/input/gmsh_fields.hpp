#pragma once

#include <limits>

#include "mesh/input/gmsh.hpp"

namespace recoil::mesh {

/// Values of a 4.1 section, whose fields are the same in text and binary.
class GmshFields {
public:
  GmshFields(FileCursor& cursor, const GmshFormat& format) : cursor_(cursor), format_(format) {}

  std::int32_t small(const char* what) {
    return format_.binary ? cursor_.binary<std::int32_t>(what) : cursor_.small_integer(what);
  }
  /// A value of type size_t.
  std::int64_t size(const char* what) {
    if (!format_.binary) {
      const auto value = cursor_.integer(what);
      if (value < 0) cursor_.fail(std::string(what) + " is negative (" + std::to_string(value) + ")");
      return value;
    }
    const std::uint64_t value =
        format_.size_bytes == 8 ? cursor_.binary<std::uint64_t>(what) : cursor_.binary<std::uint32_t>(what);
    if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      cursor_.fail(std::string(what) + " " + std::to_string(value) + " is out of range; the file is damaged");
    return value;
  }
  double coordinate() {
    return format_.binary ? cursor_.binary_coordinate() : cursor_.number("a coordinate");
  }
  /// A count, `bytes` being the least that one item takes in binary and `characters` in text.
  std::size_t count(const char* what, std::size_t bytes, std::size_t characters) {
    return cursor_.check_count(size(what), what, format_.binary ? bytes : characters);
  }
  int dimension() {
    const auto dim = small("an entity dimension");
    if (dim < 0 || dim > 3) cursor_.fail("entity dimension " + std::to_string(dim) + " is not 0, 1, 2 or 3");
    return dim;
  }
  std::size_t size_bytes() const { return format_.size_bytes; }
  FileCursor& cursor() { return cursor_; }

private:
  FileCursor& cursor_;
  const GmshFormat& format_;
};

} // namespace recoil::mesh
