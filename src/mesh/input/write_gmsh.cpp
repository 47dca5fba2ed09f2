#include "recoil/mesh/input/write_gmsh.hpp"

#include <charconv>

#include "recoil/base/error.hpp"

namespace recoil::mesh {

namespace {

/// Appends a number in the fewest digits that give it back.
template <class Number>
void append(std::string& text, Number number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end.ptr);
}

constexpr int triangle = 2, tetrahedron = 4; ///< element types of Gmsh

} // namespace

std::string gmsh_text(std::span<const Eigen::Vector3d> vertices,
                      std::span<const std::array<std::int32_t, 4>> cells,
                      std::span<const std::int32_t> tags) {
  RECOIL_ASSERT(cells.size() == tags.size());
  std::string text =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + std::to_string(vertices.size()) + "\n";
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    append(text, v + 1);
    for (const double coordinate : vertices[v]) append(text += ' ', coordinate);
    text += '\n';
  }
  text += "$EndNodes\n$Elements\n" + std::to_string(cells.size()) + "\n";
  for (std::size_t c = 0; c < cells.size(); ++c) {
    append(text, c + 1);
    append(text += ' ', cells[c][3] < 0 ? triangle : tetrahedron);
    append(text += " 2 ", tags[c]);
    append(text += ' ', tags[c]);
    for (const std::int32_t vertex : cells[c])
      if (vertex >= 0) append(text += ' ', vertex + 1);
    text += '\n';
  }
  return text + "$EndElements\n";
}

} // namespace recoil::mesh
