#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "mesh/input/readers.hpp"

namespace recoil::mesh {

namespace {

/// Element keywords: code in binary files, name in text, vertices.
struct Keyword {
  int code;
  std::string_view name;
  int vertices;
};

constexpr Keyword edges{5, "Edges", 2}, triangles{6, "Triangles", 3}, tetrahedra{8, "Tetrahedra", 4};
/// Elements that would be left out in silence if they were skipped.
constexpr Keyword refused[] = {{7, "Quadrilaterals", 4}, {9, "Prisms", 6},           {10, "Hexahedra", 8},
                               {49, "Pyramids", 5},      {24, "TrianglesP2", 6},     {30, "TetrahedraP2", 10},
                               {25, "EdgesP2", 3},       {27, "QuadrilateralsQ2", 9}};

/// Adds elements, fields coming from `next_integer`; numbers are checked by `finish`.
template <std::size_t n, class NextInteger>
void add_elements(std::size_t count, std::vector<std::array<std::int32_t, n>>& elements,
                  std::vector<std::int32_t>* tags, std::int64_t num_vertices, FileCursor& cursor,
                  NextInteger next_integer) {
  elements.reserve(elements.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::int32_t, n> element;
    for (auto& v : element) {
      const std::int64_t number = next_integer();
      if (number < 1 || number > num_vertices)
        cursor.fail("vertex " + std::to_string(number) + " does not exist; the file has " +
                    std::to_string(num_vertices) + " before this element");
      v = number - 1;
    }
    const std::int64_t reference = next_integer();
    if (reference < std::numeric_limits<std::int32_t>::min() ||
        reference > std::numeric_limits<std::int32_t>::max())
      cursor.fail("reference " + std::to_string(reference) + " does not fit 32 bits");
    elements.push_back(element);
    if (tags) tags->push_back(reference);
  }
}

RawMesh finish(FileCursor& cursor, RawMesh&& mesh) {
  if (mesh.vertices.empty()) cursor.fail("the file has no Vertices");
  keep_highest_dimension(mesh);
  return std::move(mesh);
}

[[noreturn]] void refuse(FileCursor& cursor, std::string_view name) {
  cursor.fail("the file holds " + std::string(name) + "; only linear triangles and tetrahedra are supported");
}

void check_dimension(FileCursor& cursor, std::int64_t dim) {
  if (dim != 2 && dim != 3) cursor.fail("Dimension " + std::to_string(dim) + " is neither 2 nor 3");
}

/// Skips white space and comments; true at the end of the file.
bool skip_comments(FileCursor& cursor) {
  while (!cursor.skip_space()) {
    if (!cursor.peek_word().starts_with('#')) return false;
    cursor.skip_line();
  }
  return true;
}

} // namespace

RawMesh read_medit_ascii(FileCursor& cursor) {
  RawMesh mesh;
  int dim = 3;
  bool has_version = false;
  while (!skip_comments(cursor)) {
    const auto word = cursor.word();
    const auto integer = [&] { return cursor.integer("a field of an element"); };
    if (word == "MeshVersionFormatted") {
      cursor.integer("the version");
      has_version = true;
    } else if (!has_version) {
      cursor.fail("expected MeshVersionFormatted, found " + in_quotes(word) + "; this is no MEDIT file");
    } else if (word == "Dimension") {
      const auto value = cursor.integer("the dimension");
      check_dimension(cursor, value);
      dim = static_cast<int>(value);
    } else if (word == "Vertices") {
      if (!mesh.vertices.empty()) cursor.fail("a second section Vertices");
      mesh.vertices.resize(cursor.count("vertices", dim == 3 ? 8 : 6), Eigen::Vector3d::Zero());
      for (auto& vertex : mesh.vertices) {
        for (int k = 0; k < dim; ++k) vertex[k] = cursor.number("a coordinate");
        cursor.number("a reference");
      }
    } else if (word == edges.name) {
      add_elements(cursor.count("edges", 6), mesh.edges, nullptr, mesh.vertices.size(), cursor, integer);
    } else if (word == triangles.name) {
      add_elements(cursor.count("triangles", 8), mesh.triangles, &mesh.triangle_tags, mesh.vertices.size(),
                   cursor, integer);
    } else if (word == tetrahedra.name) {
      add_elements(cursor.count("tetrahedra", 10), mesh.tetrahedra, &mesh.tetrahedron_tags,
                   mesh.vertices.size(), cursor, integer);
    } else if (word == "End") {
      return finish(cursor, std::move(mesh));
    } else {
      if (!std::isalpha(static_cast<unsigned char>(word[0])))
        cursor.fail("expected a keyword like Vertices, found " + in_quotes(word) +
                    "; a section is longer than announced");
      for (const auto& keyword : refused)
        if (word == keyword.name && cursor.count("elements", 2) > 0) refuse(cursor, word);
      // other sections hold numbers only: they end at the next keyword
      while (!skip_comments(cursor) && !std::isalpha(static_cast<unsigned char>(cursor.peek_word()[0])))
        cursor.word();
    }
  }
  return finish(cursor, std::move(mesh));
}

RawMesh read_medit_binary(FileCursor& cursor) {
  cursor.set_binary(true);
  const auto one = cursor.binary<std::int32_t>("the byte order mark");
  if (one != 1 && one != 16777216)
    cursor.fail("the byte order mark is neither 1 nor swapped 1; this is no MEDIT file");
  cursor.set_swapped(one != 1);
  const auto version = cursor.binary<std::int32_t>("the version");
  if (version < 1 || version > 4)
    cursor.fail("version " + std::to_string(version) +
                " is not supported; write the file with version 2, 3 or 4");
  const std::size_t int_bytes = version == 4 ? 8 : 4, real_bytes = version == 1 ? 4 : 8;
  const auto integer = [&]() -> std::int64_t {
    return version == 4 ? cursor.binary<std::int64_t>("an integer")
                        : cursor.binary<std::int32_t>("an integer");
  };
  const auto count = [&](const char* what, std::size_t bytes) {
    const auto value = integer();
    if (value < 0) cursor.fail(std::string("the count of ") + what + " is negative");
    return cursor.check_count(value, what, bytes);
  };

  RawMesh mesh;
  std::optional<int> dim;
  while (true) {
    const std::int64_t begin = cursor.position();
    const auto code = cursor.binary<std::int32_t>("a keyword");
    if (code == 54) break;
    const std::int64_t next = version >= 3 ? cursor.binary<std::int64_t>("the position of the next keyword")
                                           : cursor.binary<std::int32_t>("the position of the next keyword");
    if (next <= begin)
      cursor.fail("the next keyword would stand at byte " + std::to_string(next) + ", before this one");
    if (code == 3) {
      const auto value = cursor.binary<std::int32_t>("the dimension");
      check_dimension(cursor, value);
      dim = value;
    } else if (code == 4) {
      if (!dim) cursor.fail("Vertices come before Dimension");
      if (!mesh.vertices.empty()) cursor.fail("a second section Vertices");
      mesh.vertices.resize(count("vertices", *dim * real_bytes + int_bytes), Eigen::Vector3d::Zero());
      for (auto& vertex : mesh.vertices) {
        for (int k = 0; k < *dim; ++k)
          vertex[k] =
              version == 1 ? double(cursor.binary<float>("a coordinate")) : cursor.binary_coordinate();
        if (!vertex.allFinite()) cursor.fail("a coordinate is not finite; the file is damaged");
        integer();
      }
    } else if (code == edges.code) {
      add_elements(count("edges", 3 * int_bytes), mesh.edges, nullptr, mesh.vertices.size(), cursor, integer);
    } else if (code == triangles.code) {
      add_elements(count("triangles", 4 * int_bytes), mesh.triangles, &mesh.triangle_tags,
                   mesh.vertices.size(), cursor, integer);
    } else if (code == tetrahedra.code) {
      add_elements(count("tetrahedra", 5 * int_bytes), mesh.tetrahedra, &mesh.tetrahedron_tags,
                   mesh.vertices.size(), cursor, integer);
    } else {
      for (const auto& keyword : refused)
        if (code == keyword.code && integer() > 0) refuse(cursor, keyword.name);
    }
    cursor.seek(next);
  }
  return finish(cursor, std::move(mesh));
}

} // namespace recoil::mesh
