#include "recoil/mesh/input/node_values.hpp"

#include <cmath>
#include <limits>
#include <unordered_set>

#include "recoil/base/file_cursor.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::mesh {

namespace {

double read_component(FileCursor& cursor) {
  if (in_lower_case(std::string(cursor.peek_word())) != "nan") return cursor.number("a displacement or nan");
  cursor.word();
  return std::numeric_limits<double>::quiet_NaN();
}

/// Programs that write matrices write numbers of vertices as 7.0 or 7e+00 too.
GlobalIndex read_vertex(FileCursor& cursor, GlobalIndex num_vertices) {
  const std::string written(cursor.peek_word());
  const double vertex = cursor.number("a vertex");
  if (vertex != std::floor(vertex) || vertex < 0 || vertex >= num_vertices)
    cursor.fail("there is no vertex " + written + "; the vertices of all bodies are 0 to " +
                std::to_string(num_vertices - 1));
  return vertex;
}

NodeValue read_row(FileCursor& cursor, int dim, GlobalIndex num_vertices) {
  NodeValue row;
  row.vertex = read_vertex(cursor, num_vertices);
  for (int i = 0; i < dim; ++i) {
    if (cursor.skip_blanks())
      cursor.fail("the row ends after " + std::to_string(i) + " of " + std::to_string(dim) +
                  " components; a row is a vertex and its displacement");
    row.value[i] = read_component(cursor);
  }
  if (!cursor.skip_blanks() && !cursor.peek_word().starts_with('#'))
    cursor.fail("more than a vertex and " + std::to_string(dim) + " components in a row");
  return row;
}

} // namespace

std::vector<NodeValue> read_node_values(const std::filesystem::path& path, int dim, GlobalIndex num_vertices,
                                        const std::string& where) try {
  const std::string content = read_input_file(path);
  FileCursor cursor(content, path.string());
  std::vector<NodeValue> rows;
  std::unordered_set<GlobalIndex> seen;
  for (; !cursor.skip_space(); cursor.skip_line()) {
    if (cursor.peek_word().starts_with('#')) continue;
    rows.push_back(read_row(cursor, dim, num_vertices));
    if (!seen.insert(rows.back().vertex).second)
      cursor.fail("vertex " + std::to_string(rows.back().vertex) + " has a row already");
  }
  if (rows.empty()) cursor.fail("the file holds no rows");
  return rows;
} catch (const InputError& error) {
  throw InputError(where, error.what());
}

} // namespace recoil::mesh
