#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "mesh/input/readers.hpp"

namespace recoil::mesh {

namespace {

class ObjReader {
public:
  explicit ObjReader(FileCursor& cursor) : cursor_(cursor) {}

  RawMesh read() {
    while (!cursor_.skip_space()) {
      const auto keyword = cursor_.word();
      if (keyword == "v")
        read_vertex();
      else if (keyword == "f")
        read_face();
      else if (keyword == "l")
        read_polyline();
      else if (keyword == "vt")
        read_texture_place();
      cursor_.skip_line();
    }
    if (mesh_.vertices.empty()) cursor_.fail("the file has no vertices (lines 'v x y z')");
    if (largest_ >= std::ssize(mesh_.vertices))
      cursor_.fail_at(largest_position_, "vertex " + std::to_string(largest_ + 1) +
                                             " does not exist; the file has " +
                                             std::to_string(mesh_.vertices.size()));
    mesh_.triangle_tags.assign(mesh_.triangles.size(), 0);
    collect_points();
    collect_attributes();
    return std::move(mesh_);
  }
  SurfaceAttributes attributes; ///< after read()

private:
  void read_vertex() {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    int given = 0;
    while (given < 3 && !cursor_.skip_blanks()) position[given++] = cursor_.number("a coordinate");
    if (given < 2) cursor_.fail("a vertex needs two or three coordinates");
    if (std::ssize(mesh_.vertices) == std::numeric_limits<std::int32_t>::max())
      cursor_.fail("more vertices than 32-bit indices can number");
    mesh_.vertices.push_back(position);
    Eigen::Vector3d color;
    int channels = 0;
    while (channels < 3 && read_optional(color[channels])) ++channels;
    if (channels == 3) attributes.colors.push_back(color);
  }

  /// The next word of the line, if it is a number.
  bool read_optional(double& value) {
    if (cursor_.skip_blanks()) return false;
    const auto word = cursor_.word();
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && stop == word.data() + word.size() && std::isfinite(value);
  }

  void read_texture_place() {
    auto& place = texture_places_.emplace_back(0, 0);
    if (read_optional(place[0])) read_optional(place[1]);
  }

  /// The texture place of "7/1", "7/1/3" or "7/-1", counted from 0; -1 if there is none.
  std::int64_t texture_index(std::string_view word) const {
    const auto slash = word.find('/');
    if (slash == word.npos) return -1;
    std::int64_t value = 0;
    std::from_chars(word.data() + slash + 1, word.data() + word.size(), value);
    return value > 0 ? value - 1 : value < 0 ? std::ssize(texture_places_) + value : -1;
  }

  /// The vertex of "7", "7/1", "7//3" or "-1/2/3", counted from 0.
  std::int32_t read_index() {
    const auto word = cursor_.peek_word();
    std::int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || (stop != end && *stop != '/') || value == 0)
      cursor_.fail("expected the number of a vertex (from 1, or negative from the last), found " +
                   in_quotes(word));
    const std::int64_t index = value > 0 ? value - 1 : std::ssize(mesh_.vertices) + value;
    if (index < 0 || index >= std::numeric_limits<std::int32_t>::max())
      cursor_.fail("vertex " + std::to_string(value) + " does not exist; " +
                   std::to_string(mesh_.vertices.size()) + " stand before this line");
    if (index > largest_) {
      largest_ = index;
      largest_position_ = cursor_.position();
    }
    cursor_.word();
    return index;
  }

  void read_face() {
    std::array<std::int32_t, 3> face{};
    std::array<std::int64_t, 3> texture{};
    std::size_t corners = 0;
    while (!cursor_.skip_blanks()) {
      if (corners < 3) texture[corners] = texture_index(cursor_.peek_word());
      const auto index = read_index();
      if (corners < 3) face[corners] = index;
      ++corners;
    }
    if (corners != 3)
      cursor_.fail("a face with " + std::to_string(corners) +
                   " corners; only triangles are supported, triangulate it");
    if (face[0] == face[1] || face[1] == face[2] || face[0] == face[2])
      cursor_.fail("a face that uses vertex " + std::to_string((face[0] == face[1] ? face[0] : face[2]) + 1) +
                   " twice");
    mesh_.triangles.push_back(face);
    if (std::ranges::count(texture, -1) > 0) all_have_texture_ = false;
    if (all_have_texture_) face_texture_.push_back(texture);
  }

  /// Keeps attributes that all vertices or all triangles have.
  void collect_attributes() {
    if (attributes.colors.size() != mesh_.vertices.size()) attributes.colors.clear();
    if (!all_have_texture_) return;
    for (const auto& face : face_texture_) {
      auto& corners = attributes.texture.emplace_back();
      for (int k = 0; k < 3; ++k) {
        if (face[k] < 0 || face[k] >= std::ssize(texture_places_)) return attributes.texture.clear();
        corners[k] = texture_places_[face[k]];
      }
    }
  }

  void read_polyline() {
    if (cursor_.skip_blanks()) cursor_.fail("a polyline needs at least two vertices");
    auto last = read_index();
    if (cursor_.skip_blanks()) cursor_.fail("a polyline needs at least two vertices");
    while (!cursor_.skip_blanks()) {
      const auto next = read_index();
      if (next == last)
        cursor_.fail("a polyline that uses vertex " + std::to_string(next + 1) + " twice in a row");
      mesh_.edges.push_back({last, next});
      last = next;
    }
  }

  void collect_points() {
    std::vector<char> used(mesh_.vertices.size(), 0);
    for (const auto& face : mesh_.triangles)
      for (const auto v : face) used[v] = 1;
    for (const auto& edge : mesh_.edges)
      for (const auto v : edge) used[v] = 1;
    for (std::int32_t v = 0; v < std::ssize(used); ++v)
      if (!used[v]) mesh_.points.push_back(v);
  }

  FileCursor& cursor_;
  RawMesh mesh_;
  std::vector<Eigen::Vector2d> texture_places_;
  std::vector<std::array<std::int64_t, 3>> face_texture_; ///< of the corners of triangles, if all have it
  bool all_have_texture_ = true;
  std::int64_t largest_ = -1; ///< largest index used, and where: faces may precede their vertices
  std::size_t largest_position_ = 0;
};

constexpr std::size_t binary_header = 84, binary_facet = 50;

/// Numbers corners by their exact coordinates.
class VertexMerger {
public:
  explicit VertexMerger(RawMesh& mesh) : mesh_(mesh) {}

  std::int32_t index(const Eigen::Vector3d& position) {
    const Eigen::Vector3d key = position.array() + 0.0; // makes -0 equal to 0
    const auto [entry, is_new] = indices_.try_emplace(key, std::ssize(mesh_.vertices));
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
    if (keyword == "solid" || keyword == "endsolid") {
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

RawMesh read_obj(FileCursor& cursor) { return ObjReader(cursor).read(); }

RawMesh read_obj(FileCursor& cursor, SurfaceAttributes& attributes) {
  ObjReader reader(cursor);
  auto mesh = reader.read();
  attributes = std::move(reader.attributes);
  return mesh;
}

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
