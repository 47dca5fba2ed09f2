#include <algorithm>
#include <charconv>
#include <limits>

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
      cursor_.skip_line();
    }
    if (mesh_.vertices.empty()) cursor_.fail("the file has no vertices (lines 'v x y z')");
    if (largest_ >= std::ssize(mesh_.vertices))
      cursor_.fail_at(largest_position_, "vertex " + std::to_string(largest_ + 1) +
                                             " does not exist; the file has " +
                                             std::to_string(mesh_.vertices.size()));
    mesh_.triangle_tags.assign(mesh_.triangles.size(), 0);
    collect_points();
    return std::move(mesh_);
  }

private:
  void read_vertex() {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    int given = 0;
    while (given < 3 && !cursor_.skip_blanks()) position[given++] = cursor_.number("a coordinate");
    if (given < 2) cursor_.fail("a vertex needs two or three coordinates");
    if (mesh_.vertices.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      cursor_.fail("more vertices than 32-bit indices can number");
    mesh_.vertices.push_back(position);
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
    return static_cast<std::int32_t>(index);
  }

  void read_face() {
    std::array<std::int32_t, 3> face{};
    std::size_t corners = 0;
    while (!cursor_.skip_blanks()) {
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
  std::int64_t largest_ = -1; ///< largest index used, and where: faces may precede their vertices
  std::size_t largest_position_ = 0;
};

} // namespace

RawMesh read_obj(FileCursor& cursor) { return ObjReader(cursor).read(); }

} // namespace recoil::mesh
