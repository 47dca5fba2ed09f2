#include "recoil/mesh/input/read_mesh.hpp"

#include <algorithm>
#include <cctype>

#include "mesh/input/readers.hpp"

namespace recoil::mesh {

void keep_highest_dimension(RawMesh& mesh) {
  if (!mesh.tetrahedra.empty()) {
    mesh.triangles = {};
    mesh.triangle_tags = {};
  }
  if (!mesh.tetrahedra.empty() || !mesh.triangles.empty()) mesh.edges = {};
  if (!mesh.tetrahedra.empty() || !mesh.triangles.empty() || !mesh.edges.empty()) mesh.points = {};
}

RawMesh read_mesh(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  using Reader = RawMesh (*)(FileCursor&);
  const Reader reader = extension == ".msh"     ? read_gmsh
                        : extension == ".obj"   ? read_obj
                        : extension == ".stl"   ? read_stl
                        : extension == ".mesh"  ? read_medit_ascii
                        : extension == ".meshb" ? read_medit_binary
                                                : nullptr;
  if (!reader)
    throw InputError(path.string(), "unknown mesh format '" + extension +
                                        "'; known are .msh (Gmsh), .obj, .stl, .mesh and .meshb (MEDIT)");
  const std::string content = read_file(path);
  FileCursor cursor(content, path.string());
  return reader(cursor);
}

} // namespace recoil::mesh
