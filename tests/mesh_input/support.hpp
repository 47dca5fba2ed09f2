#pragma once

#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/mesh/input/body_mesh.hpp"
#include "recoil/mesh/input/quality.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "support/input_errors.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::mesh {

using recoil::testing::message_of, recoil::testing::write_file;

/// Reads `content` as a file of the given name.
inline FileMesh read_text(const std::string& name, std::string_view content) {
  const recoil::testing::TemporaryFolder folder;
  return read_mesh(write_file(folder / name, content));
}

/// Binary values in the byte order of this machine, or the other one.
class Bytes {
public:
  explicit Bytes(bool swapped = false) : swapped_(swapped) {}
  template <class T>
  Bytes& add(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) content_ += bytes[swapped_ ? sizeof(T) - 1 - i : i];
    return *this;
  }
  template <class T, class... Rest>
  Bytes& all(T first, Rest... rest) {
    add(first);
    if constexpr (sizeof...(rest) > 0) all(rest...);
    return *this;
  }
  Bytes& text(std::string_view text) {
    content_ += text;
    return *this;
  }
  const std::string& content() const { return content_; }

private:
  bool swapped_;
  std::string content_;
};

/// The signed volume of all cells.
inline double volume_of(const BodyMesh& mesh) {
  double volume = 0;
  for (const auto& cell : mesh.cells) {
    std::array<Eigen::Vector3d, 4> corners;
    for (int i = 0; i <= mesh.dim; ++i)
      corners[static_cast<std::size_t>(i)] =
          mesh.vertices[static_cast<std::size_t>(cell[static_cast<std::size_t>(i)])];
    volume += signed_volume(corners, mesh.dim);
  }
  return volume;
}

/// Five tetrahedra in the unit cube [0, 1]^3.
inline RawMesh five_tetrahedra() {
  RawMesh mesh;
  for (int k = 0; k < 8; ++k) mesh.vertices.emplace_back(k & 1, (k >> 1) & 1, (k >> 2) & 1);
  mesh.tetrahedra = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}};
  mesh.tetrahedron_tags.assign(5, 0);
  return mesh;
}

/// Two triangles in the unit square.
inline RawMesh two_triangles() {
  RawMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  mesh.triangle_tags.assign(2, 0);
  return mesh;
}

} // namespace recoil::mesh
