#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recoil/mesh/geometry_spec.hpp"

namespace recoil::mesh {

/// Ids from a file: one per item, or rows "id v0 v1 .." naming the item by its vertices in any order. '#'
/// begins a comment.
class SelectionFile {
public:
  /// @throws InputError naming `where`, file and line if a row is not `1` or `1 + vertices_per_item` integers
  /// long.
  SelectionFile(const FileSelection& selection, int vertices_per_item, const std::string& where);

  bool one_per_item() const { return !ids_.empty(); }
  std::size_t size() const { return one_per_item() ? ids_.size() : rows_.size(); }
  /// The largest vertex number of any row; -1 without rows.
  std::int32_t largest_vertex() const { return largest_vertex_; }

  /// Each id that occurs, ascending.
  std::vector<std::int32_t> all_ids() const;
  std::int32_t id(std::int64_t item) const { return ids_[item]; }
  /// @param vertices descending, then -1 for the entries that the item lacks.
  std::optional<std::int32_t> id(const std::array<std::int32_t, 4>& vertices) const;

private:
  struct Row {
    std::array<std::int32_t, 4> vertices;
    std::int32_t id;
    std::size_t place;
  };
  std::vector<std::int32_t> ids_;
  std::vector<Row> rows_; ///< sorted by vertices; of equal ones the first holds
  std::int32_t largest_vertex_ = -1;
};

} // namespace recoil::mesh
