#include "mesh/input/gmsh.hpp"

#include <algorithm>
#include <string>

#include "recoil/base/log.hpp"

namespace recoil::mesh {

namespace {

struct ElementType {
  int type, dim, nodes;
  const char* name;
};

constexpr ElementType element_types[] = {
    {1, 1, 2, "2-node line"},
    {2, 2, 3, "3-node triangle"},
    {3, 2, 4, "4-node quadrangle"},
    {4, 3, 4, "4-node tetrahedron"},
    {5, 3, 8, "8-node hexahedron"},
    {6, 3, 6, "6-node prism"},
    {7, 3, 5, "5-node pyramid"},
    {8, 1, 3, "3-node line"},
    {9, 2, 6, "6-node triangle"},
    {10, 2, 9, "9-node quadrangle"},
    {11, 3, 10, "10-node tetrahedron"},
    {12, 3, 27, "27-node hexahedron"},
    {13, 3, 18, "18-node prism"},
    {14, 3, 14, "14-node pyramid"},
    {15, 0, 1, "point"},
    {16, 2, 8, "8-node quadrangle"},
    {17, 3, 20, "20-node hexahedron"},
    {18, 3, 15, "15-node prism"},
    {19, 3, 13, "13-node pyramid"},
    {20, 2, 9, "9-node triangle"},
    {21, 2, 10, "10-node triangle"},
    {22, 2, 12, "12-node triangle"},
    {23, 2, 15, "15-node triangle"},
    {24, 2, 15, "15-node triangle"},
    {25, 2, 21, "21-node triangle"},
    {26, 1, 4, "4-node line"},
    {27, 1, 5, "5-node line"},
    {28, 1, 6, "6-node line"},
    {29, 3, 20, "20-node tetrahedron"},
    {30, 3, 35, "35-node tetrahedron"},
    {31, 3, 56, "56-node tetrahedron"},
    {92, 3, 64, "64-node hexahedron"},
    {93, 3, 125, "125-node hexahedron"},
};

const ElementType* find_type(std::int64_t type) {
  // types 1 to 31 stand at their place
  if (type >= 1 && type <= 31) return &element_types[type - 1];
  for (const auto& entry : element_types)
    if (entry.type == type) return &entry;
  return nullptr;
}

/// Moves behind the end mark of a section, whose content it returns.
std::string_view skip_section(FileCursor& cursor, std::string_view section) {
  const std::string end = "$End" + std::string(section.substr(1));
  const auto found = cursor.content().find(end, cursor.position());
  if (found == std::string_view::npos)
    cursor.fail("section " + in_quotes(section) + " has no " + end + "; the file is damaged or cut short");
  const auto content = cursor.content().substr(cursor.position(), found - cursor.position());
  cursor.seek(found + end.size());
  return content;
}

GmshFormat read_format(FileCursor& cursor, bool& version4) {
  GmshFormat format;
  const auto version = std::string(cursor.word());
  const auto type = cursor.integer("the file type");
  format.size_bytes = std::clamp<std::int64_t>(cursor.integer("the data size"), 0, 99);
  version4 = version == "4.1";
  if (!version4 && version != "2.2" && version != "2.1" && version != "2")
    cursor.fail("Gmsh format " + in_quotes(version) +
                " is not supported; write it again as 4.1 or 2.2 (gmsh FILE -save -format msh41 -o NEW)");
  if (type != 0 && type != 1)
    cursor.fail("file type " + std::to_string(type) + " is neither 0 (ASCII) nor 1 (binary)");
  format.binary = type == 1;
  if (format.binary) {
    if (format.size_bytes != 8 && !(version4 && format.size_bytes == 4))
      cursor.fail("data size " + std::to_string(format.size_bytes) +
                  " is not supported; write the file with 8");
    cursor.skip_line();
    const auto one = cursor.binary<std::int32_t>("the byte order mark");
    if (one != 1 && one != 16777216) cursor.fail("the byte order mark is damaged");
    format.swapped = one != 1;
    cursor.set_swapped(format.swapped);
  }
  cursor.expect("$EndMeshFormat");
  return format;
}

} // namespace

int gmsh_node_count(FileCursor& cursor, std::int64_t type) {
  const auto* known = find_type(type);
  if (!known) cursor.fail("unknown element type " + std::to_string(type));
  return known->nodes;
}

int gmsh_dimension(int type) { return find_type(type)->dim; }

int gmsh_linear_type(int type) { return type == 8 ? 1 : type == 9 ? 2 : type == 11 ? 4 : type; }

std::string gmsh_curved_warning(const std::string& file, std::int64_t edges, double curvature) {
  return file + ": " + std::to_string(edges) + " edges of elements of second order are curved, by up to " +
         std::to_string(100 * curvature) +
         " % of their length; they are made straight. Mesh finer where the shape matters; the order of the "
         "displacements is set with <discr_order>";
}

void GmshMesh::set_nodes(FileCursor& cursor, const std::vector<std::int64_t>& tags,
                         std::vector<Eigen::Vector3d>&& positions) {
  if (has_nodes_) cursor.fail("a second section of nodes");
  has_nodes_ = true;
  const auto n = std::ssize(tags);
  std::int64_t max_tag = 0;
  for (const auto tag : tags) {
    if (tag < 0) cursor.fail("node tag " + std::to_string(tag) + " is negative");
    max_tag = std::max(max_tag, tag);
  }
  const auto duplicate = [&](std::int64_t tag) {
    cursor.fail("two nodes have the tag " + std::to_string(tag));
  };
  if (max_tag <= 4 * n + 1000) {
    index_of_tag_.assign(max_tag + 1, -1);
    for (std::int32_t i = 0; i < n; ++i) {
      auto& index = index_of_tag_[tags[i]];
      if (index >= 0) duplicate(tags[i]);
      index = i;
    }
  } else {
    sparse_indices_.reserve(tags.size());
    for (std::int32_t i = 0; i < n; ++i)
      if (!sparse_indices_.emplace(tags[i], i).second) duplicate(tags[i]);
  }
  const bool gapless = max_tag == n && n > 0 && index_of_tag_[0] < 0;
  if (!gapless) {
    mesh_.vertices = std::move(positions);
    return;
  }
  mesh_.vertices.resize(tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) mesh_.vertices[tags[i] - 1] = positions[i];
  for (std::int32_t tag = 1; tag <= n; ++tag) index_of_tag_[tag] = tag - 1;
}

std::int32_t GmshMesh::index(FileCursor& cursor, std::int64_t tag) const {
  std::int32_t index = -1;
  if (sparse_indices_.empty()) {
    if (tag >= 0 && tag < std::ssize(index_of_tag_)) index = index_of_tag_[tag];
  } else if (const auto found = sparse_indices_.find(tag); found != sparse_indices_.end()) {
    index = found->second;
  }
  if (index < 0)
    cursor.fail("an element refers to node " + std::to_string(tag) + ", which the file does not define");
  return index;
}

void GmshMesh::begin_elements(FileCursor& cursor) {
  if (!has_nodes_) cursor.fail("elements come before the nodes");
  if (has_elements_) cursor.fail("a second section of elements");
  has_elements_ = true;
}

void GmshMesh::add_element(FileCursor& cursor, int type, const std::int64_t* node_tags, std::int32_t group,
                           std::int32_t entity) {
  const int linear = gmsh_linear_type(type);
  if (linear == 2 || linear == 4) groups_.add_entity(linear == 2 ? 2 : 3, entity);
  add_simplex(cursor, type, node_tags, group);
}

void GmshMesh::add_element(FileCursor& cursor, int type, const std::int64_t* node_tags,
                           std::span<const std::int32_t> groups) {
  add_simplex(cursor, type, node_tags, groups_.choose_of_type(type, groups));
}

/// Notes how far the nodes on the edges of an element of second order are from their middles, and puts them
/// there.
void GmshMesh::straighten(FileCursor& cursor, int type, const std::int64_t* node_tags) {
  const int corners = find_type(type)->dim + 1, edges = find_type(type)->nodes - corners;
  for (int e = 0; e < edges; ++e) {
    const auto [a, b] = gmsh_edges[e];
    const Eigen::Vector3d &p = mesh_.vertices[index(cursor, node_tags[a])],
                          &q = mesh_.vertices[index(cursor, node_tags[b])];
    const Eigen::Vector3d middle = 0.5 * (p + q);
    Eigen::Vector3d& node = mesh_.vertices[index(cursor, node_tags[corners + e])];
    const double away = (node - middle).norm() / (q - p).norm();
    if (away > gmsh_straight) ++curved_;
    curvature_ = std::max(curvature_, away);
    node = middle; // for the other elements at the edge, and for the box around the mesh
  }
}

void GmshMesh::add_simplex(FileCursor& cursor, int type, const std::int64_t* node_tags, std::int32_t group) {
  const auto node = [&](int k) { return index(cursor, node_tags[k]); };
  if (gmsh_linear_type(type) != type) straighten(cursor, type, node_tags);
  switch (gmsh_linear_type(type)) {
  case 1:
    mesh_.edges.push_back({node(0), node(1)});
    edge_tags_.push_back(group);
    break;
  case 2:
    mesh_.triangles.push_back({node(0), node(1), node(2)});
    mesh_.triangle_tags.push_back(group);
    break;
  case 4:
    mesh_.tetrahedra.push_back({node(0), node(1), node(2), node(3)});
    mesh_.tetrahedron_tags.push_back(group);
    break;
  case 15:
    mesh_.points.push_back(node(0));
    break;
  default:
    const std::size_t dim = find_type(type)->dim;
    if (refused_type_[dim] == 0) {
      refused_type_[dim] = type;
      refused_position_[dim] = cursor.position();
    }
  }
}

/// Keeps the elements one dimension below the highest that are in a physical group.
void GmshMesh::keep_facets() {
  mesh_.group_names = groups_.names_without_quotes();
  std::vector<std::pair<std::array<std::int32_t, 3>, std::int32_t>> facets;
  if (!mesh_.tetrahedra.empty()) {
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
      if (mesh_.triangle_tags[t] > 0) facets.emplace_back(mesh_.triangles[t], mesh_.triangle_tags[t]);
  } else if (!mesh_.triangles.empty()) {
    for (std::size_t e = 0; e < mesh_.edges.size(); ++e)
      if (edge_tags_[e] > 0)
        facets.emplace_back(std::array<std::int32_t, 3>{mesh_.edges[e][0], mesh_.edges[e][1], -1},
                            edge_tags_[e]);
  }
  std::ranges::stable_sort(facets, {}, [](const auto& facet) { return facet.second; });
  for (const auto& [vertices, tag] : facets) {
    mesh_.facets.push_back(vertices);
    mesh_.facet_tags.push_back(tag);
  }
}

FileMesh GmshMesh::finish(FileCursor& cursor) && {
  if (!has_nodes_) cursor.fail("the file has no section $Nodes");
  if (!has_elements_) cursor.fail("the file has no section $Elements");
  const std::size_t lowest_wanted = !mesh_.tetrahedra.empty() ? 3 : !mesh_.triangles.empty() ? 2 : 1;
  for (std::size_t dim = 3; dim >= lowest_wanted; --dim)
    if (const int type = refused_type_[dim]; type != 0) {
      const std::string_view name = find_type(type)->name;
      const bool simplex =
          name.ends_with("triangle") || name.ends_with("tetrahedron") || name.ends_with("line");
      cursor.fail_at(refused_position_[dim],
                     "element of type " + std::to_string(type) + " (" + std::string(name) + "): " +
                         (simplex ? "elements of third order and higher are not supported; mesh with "
                                    "Mesh.ElementOrder = 1 or 2 "
                                    "and set the order with <discr_order>"
                                  : "only triangles and tetrahedra are supported; mesh with simplices"));
    }
  keep_facets();
  keep_highest_dimension(mesh_);
  if (curved_ > 0) log_warning_once(gmsh_curved_warning(cursor.name(), std::int64_t(curved_), curvature_));
  groups_.merge_repeats(mesh_);
  if (const auto warning = groups_.warning(int(lowest_wanted), cursor.name()); !warning.empty())
    log_warning_once(warning);
  return std::move(mesh_);
}

std::string_view GmshSections::next(FileCursor& cursor) {
  while (!cursor.skip_space()) {
    const auto section = cursor.word();
    if (!section.starts_with('$') || section.starts_with("$End"))
      cursor.fail("expected a section like $Nodes, found " + in_quotes(section) +
                  (has_format ? "; the file is damaged" : "; this is no Gmsh file"));
    if (section == "$MeshFormat") {
      if (has_format) cursor.fail("a second section $MeshFormat");
      format = read_format(cursor, version4);
      has_format = true;
      continue;
    }
    if (section == "$PartitionedEntities" || section == "$ParametricNodes")
      cursor.fail("section " + std::string(section) +
                  " is not supported; write the mesh unpartitioned and without it");
    const bool is_mesh = section == "$Nodes" || section == "$Elements";
    if (!is_mesh && !(section == "$Entities" && version4)) {
      const auto content = skip_section(cursor, section);
      if (section == "$PhysicalNames") names += content;
      continue;
    }
    if (!has_format) cursor.fail("section " + std::string(section) + " stands before $MeshFormat");
    cursor.skip_line();
    cursor.set_binary(format.binary);
    if (is_mesh) return section;
    entities = read_gmsh4_entities(cursor, format);
    end(cursor, section);
  }
  return {};
}

void GmshSections::end(FileCursor& cursor, std::string_view section) {
  cursor.expect("$End" + std::string(section.substr(1)));
  cursor.set_binary(false);
}

FileMesh read_gmsh(FileCursor& cursor) {
  GmshMesh mesh;
  GmshSections sections;
  for (std::string_view section = sections.next(cursor); !section.empty(); section = sections.next(cursor)) {
    const GmshFormat& format = sections.format;
    if (section == "$Nodes")
      sections.version4 ? read_gmsh4_nodes(cursor, format, mesh) : read_gmsh2_nodes(cursor, format, mesh);
    else
      sections.version4 ? read_gmsh4_elements(cursor, format, sections.entities, mesh)
                        : read_gmsh2_elements(cursor, format, mesh);
    GmshSections::end(cursor, section);
  }
  if (!sections.has_format) cursor.fail("the file has no section $MeshFormat; this is no Gmsh file");
  cursor.set_binary(sections.format.binary);
  mesh.read_group_names(sections.names);
  return std::move(mesh).finish(cursor);
}

} // namespace recoil::mesh
