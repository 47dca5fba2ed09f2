#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mesh/input/readers.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

/// What the two versions of the Gmsh format share.
namespace recoil::mesh {

/// What the `$MeshFormat` section says.
struct GmshFormat {
  bool binary = false;
  bool swapped = false; ///< binary values are in the other byte order
  int size_bytes = 8;   ///< size of size_t in binary 4.1 files
};

/// Most nodes of any element of the format that is listed here.
inline constexpr int gmsh_max_nodes = 125;

/// Number of nodes of an element type. Fails for types unknown.
int gmsh_node_count(FileCursor& cursor, std::int64_t type);
/// Dimension of an element of a type that is known.
int gmsh_dimension(int type);
/// Type of the linear simplex with the corners of one of second order; other types stay.
int gmsh_linear_type(int type);
/// The edges of simplices of second order, in the order of the nodes in their middle.
inline constexpr std::array<std::array<int, 2>, 6> gmsh_edges{
    {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {2, 3}, {1, 3}}};
/// Below this share of its length an edge of second order is straight but for rounding.
inline constexpr double gmsh_straight = 1e-6;
/// The warning of edges that were not; `curvature` is the largest share of a length.
std::string gmsh_curved_warning(const std::string& file, std::int64_t edges, double curvature);

/// Elements of a Gmsh file that belong to several physical groups. Format 4.1 lists the groups of an entity,
/// 2.2 repeats the element once per group. The lowest number counts in both; a warning names the others.
class GmshGroups {
public:
  /// Takes the lines of a `$PhysicalNames` section; what it cannot read has no name.
  void read_names(std::string_view lines);
  /// By dimension and number.
  std::map<std::pair<int, std::int32_t>, std::string> names_without_quotes() const;
  /// The group that counts of several of an element: the lowest; 0 if none.
  std::int32_t choose(int dim, std::span<const std::int32_t> groups);
  /// The same of those that a format 4.1 file gives an element of a type; 0 of types whose groups do not
  /// count.
  std::int32_t choose_of_type(int type, std::span<const std::int32_t> groups);
  /// Whether elements with the same vertices are one that a format 2.2 file repeats: they are of one entity,
  /// and each is in a group of its own.
  static bool is_one_element(std::span<const std::int32_t> groups, std::span<const std::int32_t> entities);
  /// Notes the entity of the next element of a format 2.2 file.
  void add_entity(int dim, std::int32_t entity) { entities_[dim].push_back(entity); }
  /// Makes one of the triangles and tetrahedra of one entity that are repeated in several groups. Repeats
  /// with the same group, and those of different entities, stay.
  void merge_repeats(RawMesh& mesh);
  /// The counts of several parts of one file. Collective.
  void add_up(const parallel::Communicator& comm);
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

/// Collects nodes and elements of a Gmsh file.
class GmshMesh {
public:
  /// Takes all nodes at once and decides their numbers.
  void set_nodes(FileCursor& cursor, const std::vector<std::int64_t>& tags,
                 std::vector<Eigen::Vector3d>&& positions);
  void begin_elements(FileCursor& cursor);
  /// The names of the physical groups, of the content of their section.
  void read_group_names(std::string_view lines) { groups_.read_names(lines); }
  /// Takes an element of a 2.2 file: of the given type with its node tags, in one physical group (0 = none)
  /// of one entity.
  void add_element(FileCursor& cursor, int type, const std::int64_t* node_tags, std::int32_t group,
                   std::int32_t entity);
  /// Takes an element of a 4.1 file, with all groups of its entity.
  void add_element(FileCursor& cursor, int type, const std::int64_t* node_tags,
                   std::span<const std::int32_t> groups);
  /// The elements of the highest dimension, each once, and the facets in groups. Fails if some elements are
  /// no simplices of first or second order; warns of those in several groups, and of curved ones, whose edges
  /// are straight now.
  FileMesh finish(FileCursor& cursor) &&;

private:
  std::int32_t index(FileCursor& cursor, std::int64_t tag) const;
  void add_simplex(FileCursor& cursor, int type, const std::int64_t* node_tags, std::int32_t group);
  void straighten(FileCursor& cursor, int type, const std::int64_t* node_tags);
  void keep_facets();

  FileMesh mesh_;
  std::vector<std::int32_t> edge_tags_;
  std::size_t curved_ = 0; ///< edges of elements of second order that were not straight
  double curvature_ = 0;   ///< how far their middles were from those of straight edges, as a share of an edge
  GmshGroups groups_;
  bool has_nodes_ = false, has_elements_ = false;
  std::vector<std::int32_t> index_of_tag_;                        ///< dense tags; -1 where there is no node
  std::unordered_map<std::int64_t, std::int32_t> sparse_indices_; ///< by tag, if tags are sparse
  std::array<std::size_t, 4> refused_position_{};                 ///< first unsupported element per dimension
  std::array<int, 4> refused_type_{};                             ///< type of this element, 0 if none
};

void read_gmsh2_nodes(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh);
void read_gmsh2_elements(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh);

/// Physical tags of the entities of each dimension, by their own tag.
using GmshEntities = std::array<std::map<std::int64_t, std::vector<std::int32_t>>, 4>;

/// The sections of a file but those of nodes and elements.
struct GmshSections {
  GmshFormat format;
  bool has_format = false, version4 = false;
  GmshEntities entities;
  std::string names; ///< content of `$PhysicalNames`

  /// Reads up to the content of the next section of nodes or elements and returns its name; empty at the end
  /// of the file.
  std::string_view next(FileCursor& cursor);
  /// Behind the content of a section.
  static void end(FileCursor& cursor, std::string_view section);
};

GmshEntities read_gmsh4_entities(FileCursor& cursor, const GmshFormat& format);
void read_gmsh4_nodes(FileCursor& cursor, const GmshFormat& format, GmshMesh& mesh);
void read_gmsh4_elements(FileCursor& cursor, const GmshFormat& format, const GmshEntities& entities,
                         GmshMesh& mesh);

} // namespace recoil::mesh
