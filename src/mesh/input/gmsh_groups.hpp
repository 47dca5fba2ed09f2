#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::mesh {

/// Elements of a Gmsh file that belong to several physical groups. Format 4.1 lists the groups of an entity,
/// 2.2 repeats the element once per group. The lowest number counts in both; a warning names the others.
class GmshGroups {
public:
  /// Takes the lines of a `$PhysicalNames` section; what it cannot read has no name.
  void read_names(std::string_view lines);
  /// The group that counts of those that a format 4.1 file gives an element: the lowest; 0 if none.
  std::int32_t choose(int dim, std::span<const std::int32_t> groups);
  /// Notes the entity of the next element of a format 2.2 file.
  void add_entity(int dim, std::int32_t entity) { entities_[dim].push_back(entity); }
  /// Makes one of the triangles and tetrahedra of one entity that are repeated in several groups. Repeats
  /// with the same group, and those of different entities, stay.
  void merge_repeats(RawMesh& mesh);
  /// A warning of the elements of dimension `dim` in several groups; empty if there are none.
  std::string warning(int dim, const std::string& file) const;

private:
  template <std::size_t n>
  void merge_repeats(int dim, std::vector<std::array<std::int32_t, n>>& items,
                     std::vector<std::int32_t>& groups);
  std::string describe(int dim, const std::vector<std::int32_t>& groups) const;

  std::map<std::pair<int, std::int32_t>, std::string> names_; ///< by dimension and number
  std::array<std::vector<std::int32_t>, 4> entities_; ///< entity of the elements of each dimension; 2.2 only
  /// Number of elements by the ascending groups that they share, for each dimension.
  std::array<std::map<std::vector<std::int32_t>, std::size_t>, 4> shared_;
};

} // namespace recoil::mesh
