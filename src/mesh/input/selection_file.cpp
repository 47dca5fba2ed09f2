#include "mesh/input/selection_file.hpp"

#include <algorithm>
#include <functional>

#include "recoil/base/file_cursor.hpp"

namespace recoil::mesh {

SelectionFile::SelectionFile(const FileSelection& selection, int vertices_per_item,
                             const std::string& where) try {
  const std::string content = read_input_file(selection.path);
  FileCursor cursor(content, selection.path.string());
  const std::size_t width = 1 + vertices_per_item;
  std::size_t columns = 0;
  while (!cursor.skip_space()) {
    std::array<std::int32_t, 5> row{};
    std::size_t given = 0;
    while (!cursor.skip_blanks() && !cursor.peek_word().starts_with('#')) {
      const auto value = cursor.small_integer(given == 0 ? "an id" : "a vertex");
      if (given < row.size()) row[given] = value;
      if (given > 0 && value < 0) cursor.fail("vertex " + std::to_string(value) + " is negative");
      ++given;
    }
    if (given > 0) {
      if (columns == 0) columns = given;
      if ((given != 1 && given != width) || given != columns)
        cursor.fail("a row of " + std::to_string(given) + " integers; each row must be one id" +
                    (columns == given || columns == width
                         ? ", or an id and " + std::to_string(vertices_per_item) + " vertices"
                         : " as in the first row"));
      if (given == 1) {
        ids_.push_back(row[0]);
      } else {
        Row entry{{-1, -1, -1, -1}, row[0], rows_.size()};
        std::copy(row.begin() + 1, row.begin() + width, entry.vertices.begin());
        std::sort(entry.vertices.begin(), entry.vertices.end(), std::greater<>());
        largest_vertex_ = std::max(largest_vertex_, entry.vertices[0]);
        rows_.push_back(entry);
      }
    }
    cursor.skip_line();
  }
  if (columns == 0) cursor.fail("the file holds no ids");
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return a.vertices != b.vertices ? a.vertices < b.vertices : a.place < b.place;
  });
} catch (const InputError& error) {
  throw InputError(where, error.what());
}

std::vector<std::int32_t> SelectionFile::all_ids() const {
  std::vector<std::int32_t> ids = ids_;
  for (const Row& row : rows_) ids.push_back(row.id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::optional<std::int32_t> SelectionFile::id(const std::array<std::int32_t, 4>& vertices) const {
  const auto found = std::lower_bound(rows_.begin(), rows_.end(), vertices,
                                      [](const Row& row, const auto& value) { return row.vertices < value; });
  if (found == rows_.end() || found->vertices != vertices) return std::nullopt;
  return found->id;
}

} // namespace recoil::mesh
