#include "recoil/mesh/input/raw_mesh.hpp"

#include <charconv>

#include "mesh/input/readers.hpp"
#include "recoil/base/suggest.hpp"

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

void keep_highest_dimension(RawMesh& mesh) {
  if (!mesh.tetrahedra.empty()) {
    mesh.triangles = {};
    mesh.triangle_tags = {};
  }
  if (!mesh.tetrahedra.empty() || !mesh.triangles.empty()) mesh.edges = {};
  if (!mesh.tetrahedra.empty() || !mesh.triangles.empty() || !mesh.edges.empty()) mesh.points = {};
}

FileMesh read_mesh(const std::filesystem::path& path) {
  const std::string extension = in_lower_case(path.extension().string());
  using Reader = RawMesh (*)(FileCursor&);
  const Reader reader = extension == ".obj"     ? static_cast<Reader>(read_obj)
                        : extension == ".stl"   ? read_stl
                        : extension == ".mesh"  ? read_medit_ascii
                        : extension == ".meshb" ? read_medit_binary
                                                : nullptr;
  if (!reader && extension != ".msh")
    throw InputError(path.string(), "unknown mesh format '" + extension +
                                        "'; known are .msh (Gmsh), .obj, .stl, .mesh and .meshb (MEDIT)");
  const std::string content = read_input_file(path);
  FileCursor cursor(content, path.string());
  if (!reader) return read_gmsh(cursor);
  return {reader(cursor), {}, {}, {}};
}

RawMesh read_surface(const std::filesystem::path& path, SurfaceAttributes& attributes) {
  attributes = {};
  if (in_lower_case(path.extension().string()) != ".obj") return read_mesh(path);
  const std::string content = read_input_file(path);
  FileCursor cursor(content, path.string());
  return read_obj(cursor, attributes);
}

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
