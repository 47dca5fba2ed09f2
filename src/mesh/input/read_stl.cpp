#include <bit>
#include <unordered_map>

#include "mesh/input/readers.hpp"

namespace recoil::mesh {

namespace {

constexpr std::size_t binary_header = 84, binary_facet = 50;

/// Numbers corners by their exact coordinates.
class VertexMerger {
public:
  explicit VertexMerger(RawMesh& mesh) : mesh_(mesh) {}

  std::int32_t index(const Eigen::Vector3d& position) {
    const Eigen::Vector3d key = position.array() + 0.0; // makes -0 equal to 0
    const auto [entry, is_new] = indices_.try_emplace(key, static_cast<std::int32_t>(mesh_.vertices.size()));
    if (is_new) mesh_.vertices.push_back(key);
    return entry->second;
  }

private:
  struct Hash {
    std::size_t operator()(const Eigen::Vector3d& p) const {
      std::uint64_t hash = 0;
      for (int k = 0; k < 3; ++k)
        hash = (hash ^ std::bit_cast<std::uint64_t>(p[k])) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
      return hash;
    }
  };
  RawMesh& mesh_;
  std::unordered_map<Eigen::Vector3d, std::int32_t, Hash> indices_;
};

/// Adds a facet unless two of its corners coincide: its neighbours then share an edge, nothing is lost.
void add_facet(RawMesh& mesh, const std::array<std::int32_t, 3>& facet) {
  if (facet[0] != facet[1] && facet[1] != facet[2] && facet[0] != facet[2]) mesh.triangles.push_back(facet);
}

void read_binary(FileCursor& cursor, RawMesh& mesh) {
  cursor.set_binary(true);
  cursor.set_swapped(std::endian::native == std::endian::big);
  cursor.seek(binary_header - 4);
  const auto count =
      cursor.check_count(cursor.binary<std::uint32_t>("the count of facets"), "facets", binary_facet);
  VertexMerger merger(mesh);
  for (std::size_t f = 0; f < count; ++f) {
    cursor.seek(cursor.position() + 12);
    std::array<std::int32_t, 3> facet;
    for (auto& corner : facet) {
      Eigen::Vector3d position;
      for (int k = 0; k < 3; ++k) position[k] = cursor.binary<float>("a coordinate");
      if (!position.allFinite())
        cursor.fail("corner of facet " + std::to_string(f) + " is not finite; the file is damaged");
      corner = merger.index(position);
    }
    cursor.seek(cursor.position() + 2);
    add_facet(mesh, facet);
  }
}

void read_ascii(FileCursor& cursor, RawMesh& mesh) {
  VertexMerger merger(mesh);
  while (!cursor.skip_space()) {
    const auto keyword = cursor.word();
    if (keyword == "solid") {
      cursor.skip_line();
    } else if (keyword == "endsolid") {
      cursor.skip_line();
    } else if (keyword == "facet") {
      cursor.expect("normal");
      for (int k = 0; k < 3; ++k) cursor.word(); // some writers put nan for flat facets
      cursor.expect("outer");
      cursor.expect("loop");
      std::array<std::int32_t, 3> facet;
      for (auto& corner : facet) {
        cursor.expect("vertex");
        Eigen::Vector3d position;
        for (int k = 0; k < 3; ++k) position[k] = cursor.number("a coordinate");
        corner = merger.index(position);
      }
      cursor.expect("endloop");
      cursor.expect("endfacet");
      add_facet(mesh, facet);
    } else {
      cursor.fail("expected facet or endsolid, found " + in_quotes(keyword));
    }
  }
}

} // namespace

RawMesh read_stl(FileCursor& cursor) {
  RawMesh mesh;
  // many binary files begin with the word solid: the size decides
  std::size_t expected = 0;
  if (cursor.size() >= binary_header) {
    FileCursor header = cursor;
    header.set_swapped(std::endian::native == std::endian::big);
    header.seek(binary_header - 4);
    expected = binary_header + binary_facet * header.binary<std::uint32_t>("the count of facets");
  }
  if (cursor.size() == expected)
    read_binary(cursor, mesh);
  else if (cursor.peek_word() == "solid")
    read_ascii(cursor, mesh);
  else if (cursor.size() < binary_header)
    cursor.fail("is neither ASCII STL (no 'solid') nor binary STL (shorter than its header)");
  else
    cursor.fail("is not ASCII STL (no 'solid'), and binary STL of this count of facets would have " +
                std::to_string(expected) + " bytes, not " + std::to_string(cursor.size()) +
                "; the file is damaged or cut short");
  if (mesh.triangles.empty()) cursor.fail("the file has no facets");
  mesh.triangle_tags.assign(mesh.triangles.size(), 0);
  return mesh;
}

} // namespace recoil::mesh
