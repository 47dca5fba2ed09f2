#include "recoil/mesh/input/select.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>

#include "mesh/input/describe.hpp"
#include "recoil/base/file_cursor.hpp"

namespace recoil::mesh {

namespace {

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

/// A facet, cell or vertex that may be selected.
struct Item {
  Eigen::Vector3d position;
  std::array<std::int32_t, 4> vertices; ///< descending, then -1 for what it lacks
  std::int64_t number;                  ///< place in a file with one id per item
  std::int32_t tag = 0;                 ///< stored volume tag
  bool on_boundary = true;
};

/// What is selected from, for messages and for the shape of files.
struct Population {
  EmptySelection::Kind kind;
  const char* name; ///< "boundary facet"
  int vertices_per_item;
  std::int64_t count;    ///< ids in a file with one per item; -1 if such a file is refused
  std::int64_t vertices; ///< vertices of the mesh
};

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

/// A selection with absolute coordinates, ready to be asked.
class Matcher {
public:
  Matcher(const Selection& selection, const Eigen::AlignedBox3d& box, int dim, const Population& population)
      : selection_(selection), shape_(selection.shape), box_(box), dim_(dim), population_(population) {
    if (selection.relative) make_absolute();
    if (const auto* axis = std::get_if<AxisSelection>(&shape_)) {
      const int number = std::abs(axis->axis);
      if (number < 1 || number > dim)
        fail("axis " + std::to_string(axis->axis) + " does not exist in " + std::to_string(dim) +
             "D; use +-1 to +-" + std::to_string(dim));
    }
    if (const auto* file = std::get_if<FileSelection>(&shape_)) load(*file);
  }

  /// The id that this selection gives to `item`, if it matches.
  std::optional<std::int32_t> match(const Item& item) const {
    if (selection_.boundary_only && !item.on_boundary) return std::nullopt;
    const auto id_if = [&](bool inside) { return inside ? std::optional(selection_.id) : std::nullopt; };
    const Eigen::Vector3d& p = item.position;
    return std::visit(
        Overloaded{
            [&](const BoxSelection& box) { return id_if(in_box(box, p)); },
            [&](const SphereSelection& sphere) {
              return id_if((p - sphere.center).squaredNorm() <= sphere.radius * sphere.radius);
            },
            [&](const CylinderSelection& cylinder) { return id_if(in_cylinder(cylinder, p)); },
            [&](const AxisSelection& axis) {
              const double value = p[std::abs(axis.axis) - 1], slack = axis_tolerance();
              return id_if(axis.axis > 0 ? value >= axis.position - slack : value <= axis.position + slack);
            },
            [&](const PlaneSelection& plane) { return id_if((p - plane.point).dot(plane.normal) >= 0); },
            [&](const ThresholdSelection& sides) { return std::optional(side(sides, p) + sides.id_offset); },
            [&](const EverythingSelection&) { return id_if(true); },
            [&](const FileSelection&) {
              return file_->one_per_item() ? std::optional(file_->id(item.number)) : file_->id(item.vertices);
            },
            [&](const GroupSelection& group) { return id_if(item.tag == group.group); },
            [&](const IdOffsetSelection& offset) {
              // Facets without a group have no id.
              const bool has_id = population_.kind != EmptySelection::Kind::surface || item.tag > 0;
              return has_id ? std::optional(item.tag + offset.id_offset) : std::nullopt;
            }},
        shape_);
  }

  EmptySelection as_empty() const {
    std::vector<std::int32_t> ids{selection_.id};
    if (file_) ids = file_->all_ids();
    return {population_.kind, std::move(ids), selection_.where,
            describe_shape() + " selects no " + population_.name + " of this geometry, which " +
                (box_.isEmpty() ? "is empty" : "spans " + describe(box_, dim_)) +
                "; facets and cells are tested by their barycentre, after transformation and refinement" +
                (selection_.relative ? " (the selection is relative to that box)" : ""),
            0};
  }

private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError(selection_.where, message); }

  void make_absolute() {
    const Eigen::Vector3d extent = box_.isEmpty() ? Eigen::Vector3d::Zero() : Eigen::Vector3d(box_.sizes());
    const double diagonal = extent.norm();
    const auto point = [&](Eigen::Vector3d& p) { p = (extent.cwiseProduct(p) + box_.min()).eval(); };
    std::visit(Overloaded{[&](BoxSelection& box) {
                            point(box.min);
                            point(box.max);
                          },
                          [&](SphereSelection& sphere) {
                            point(sphere.center);
                            sphere.radius *= diagonal;
                          },
                          [&](CylinderSelection& cylinder) {
                            point(cylinder.p1);
                            point(cylinder.p2);
                            cylinder.radius *= diagonal;
                          },
                          [&](AxisSelection& axis) {
                            const int k = std::clamp(std::abs(axis.axis), 1, 3) - 1;
                            axis.position = extent[k] * axis.position + box_.min()[k];
                          },
                          [&](PlaneSelection& plane) { point(plane.point); }, [](auto&) {}},
               shape_);
  }

  void load(const FileSelection& selection) {
    file_ = std::make_unique<SelectionFile>(selection, population_.vertices_per_item, selection_.where);
    if (file_->one_per_item()) {
      if (population_.count < 0)
        fail("file " + selection.path.string() +
             " has one id per row, but edges in 2D have no numbers; write rows \"id "
             "v0 v1\" with the vertices of the edge");
      if (std::ssize(*file_) != population_.count)
        fail("file " + selection.path.string() + " has " + std::to_string(file_->size()) +
             " ids, the geometry needs " + std::to_string(population_.count) + " after refinement");
    } else if (file_->largest_vertex() >= population_.vertices) {
      fail("file " + selection.path.string() + " refers to vertex " +
           std::to_string(file_->largest_vertex()) + ", the geometry has " +
           std::to_string(population_.vertices) + " (counted from 0)");
    }
  }

  bool in_box(const BoxSelection& box, const Eigen::Vector3d& p) const {
    for (int k = 0; k < dim_; ++k)
      if (p[k] < box.min[k] || p[k] > box.max[k]) return false;
    return true;
  }

  static bool in_cylinder(const CylinderSelection& cylinder, const Eigen::Vector3d& p) {
    const Eigen::Vector3d axis = cylinder.p2 - cylinder.p1, v = p - cylinder.p1;
    const double height = axis.norm();
    if (height == 0) return false;
    const Eigen::Vector3d direction = axis / height;
    const double along = direction.dot(v);
    return along >= 0 && along <= height &&
           (v - along * direction).squaredNorm() <= cylinder.radius * cylinder.radius;
  }

  /// Facets that lie on the plane exactly must not be lost to rounding.
  double axis_tolerance() const { return 1e-9 * diagonal(); }

  double diagonal() const { return box_.isEmpty() ? 1 : box_.sizes().norm(); }

  int side(const ThresholdSelection& sides, const Eigen::Vector3d& p) const {
    const double threshold = sides.threshold < 0 ? 1e-7 * diagonal() : sides.threshold;
    const auto near = [&](const Eigen::Vector3d& corner, int k) {
      return std::abs(p[k] - corner[k]) < threshold;
    };
    const Eigen::Vector3d min = box_.min(), max = box_.max();
    if (near(min, 0)) return 1;
    if (near(min, 1)) return 2;
    if (near(max, 0)) return 3;
    if (near(max, 1)) return 4;
    if (dim_ == 3 && near(min, 2)) return 5;
    if (dim_ == 3 && near(max, 2)) return 6;
    return 7;
  }

  std::string describe_shape() const {
    const auto p = [&](const Eigen::Vector3d& point) { return describe(point, dim_); };
    return std::visit(Overloaded{[&](const BoxSelection& s) { return "box " + p(s.min) + " to " + p(s.max); },
                                 [&](const SphereSelection& s) {
                                   return "sphere around " + p(s.center) + " of radius " + describe(s.radius);
                                 },
                                 [&](const CylinderSelection& s) {
                                   return "cylinder from " + p(s.p1) + " to " + p(s.p2) + " of radius " +
                                          describe(s.radius);
                                 },
                                 [&](const AxisSelection& s) {
                                   return std::string(1, "xyz"[std::abs(s.axis) - 1]) +
                                          (s.axis > 0 ? " >= " : " <= ") + describe(s.position);
                                 },
                                 [&](const PlaneSelection& s) {
                                   return "half-space beyond " + p(s.point) + " with normal " + p(s.normal);
                                 },
                                 [&](const FileSelection& s) { return "file " + s.path.string(); },
                                 [&](const GroupSelection& s) {
                                   return "physical group " + std::to_string(s.group) + " of the file";
                                 },
                                 [](const auto&) { return std::string("the selection"); }},
                      shape_);
  }

  const Selection& selection_;
  SelectionShape shape_;
  Eigen::AlignedBox3d box_;
  int dim_;
  Population population_;
  std::unique_ptr<SelectionFile> file_;
};

/// Asks the selections in order for each item; remembers which of them matched anything at all.
class Search {
public:
  Search(const std::vector<Selection>& selections, const Eigen::AlignedBox3d& box, int dim,
         const Population& population)
      : matched_(selections.size(), false) {
    for (const auto& selection : selections) matchers_.emplace_back(selection, box, dim, population);
  }

  std::optional<std::int32_t> operator()(const Item& item) {
    std::optional<std::int32_t> id;
    for (std::size_t s = 0; s < matchers_.size(); ++s) {
      if (id && matched_[s]) continue;
      const auto match = matchers_[s].match(item);
      if (match) matched_[s] = true;
      if (!id) id = match;
    }
    return id;
  }

  std::vector<char> matched() const { return {matched_.begin(), matched_.end()}; }

  void add_unmatched(std::vector<EmptySelection>& empty) const {
    for (std::size_t s = 0; s < matchers_.size(); ++s) {
      if (matched_[s]) continue;
      empty.push_back(matchers_[s].as_empty());
      empty.back().place = s;
    }
  }

private:
  std::vector<Matcher> matchers_;
  std::vector<bool> matched_;
};

template <std::size_t n>
Item item_of(const BodyMesh& mesh, const std::array<std::int32_t, n>& vertices, int count,
             std::int64_t number) {
  Item item{Eigen::Vector3d::Zero(), {-1, -1, -1, -1}, number};
  for (int i = 0; i < count; ++i) {
    item.vertices[i] = std::int32_t(mesh.id_of_vertex(vertices[i]));
    item.position += mesh.vertices[vertices[i]];
  }
  item.position /= count;
  std::sort(item.vertices.begin(), item.vertices.end(), std::greater<>());
  return item;
}

} // namespace

namespace {

/// The physical tags of facets by their vertices; the first of several in a file counts.
class FacetTags {
public:
  explicit FacetTags(const BodyMesh& mesh) {
    for (std::size_t f = 0; f < mesh.facets.size(); ++f) {
      auto vertices = mesh.facets[f];
      std::sort(vertices.begin(), vertices.end());
      tags_.emplace_back(vertices, f, mesh.facet_tags[f]);
    }
    std::sort(tags_.begin(), tags_.end());
  }
  /// 0 if there is none.
  std::int32_t of(std::array<std::int32_t, 3> vertices) const {
    std::sort(vertices.begin(), vertices.end());
    const auto found = std::lower_bound(tags_.begin(), tags_.end(), std::tuple(vertices, std::size_t{0}, 0));
    return found != tags_.end() && std::get<0>(*found) == vertices ? std::get<2>(*found) : 0;
  }

private:
  std::vector<std::tuple<std::array<std::int32_t, 3>, std::size_t, std::int32_t>> tags_;
};

} // namespace

std::vector<std::array<std::int32_t, 4>> select_facets(const BodyMesh& mesh, const Boundary& boundary,
                                                       const std::vector<Selection>& selections,
                                                       const Eigen::AlignedBox3d& box,
                                                       std::vector<EmptySelection>& empty) {
  constexpr std::array<std::int32_t, 4> interior{interior_facet, interior_facet, interior_facet,
                                                 interior_facet};
  std::vector<std::array<std::int32_t, 4>> ids(mesh.cells.size(), interior);
  Search search(selections, box, mesh.dim,
                {EmptySelection::Kind::surface, "boundary facet", mesh.dim,
                 mesh.dim == 3 ? boundary.num_all_facets : -1, mesh.num_vertices_of_body()});
  const FacetTags tags(mesh);
  for (const auto& facet : boundary.facets) {
    auto& id = ids[facet.cell][facet.local];
    const auto vertices = facet_vertices(mesh, facet);
    const std::int32_t tag = tags.of(vertices);
    id = selections.empty() && tag > 0 ? tag : unselected_facet;
    if (selections.empty()) continue;
    Item item = item_of(mesh, vertices, mesh.dim, facet.number);
    item.tag = tag;
    if (const auto match = search(item)) id = *match;
  }
  search.add_unmatched(empty);
  return ids;
}

std::vector<std::int32_t> select_cells(const BodyMesh& mesh, const std::vector<Selection>& selections,
                                       const Eigen::AlignedBox3d& box, std::vector<EmptySelection>& empty) {
  std::vector<std::int32_t> ids = mesh.tags;
  if (selections.empty()) return ids;
  Search search(selections, box, mesh.dim,
                {EmptySelection::Kind::volume, "cell", mesh.dim + 1, mesh.num_cells_of_body(),
                 mesh.num_vertices_of_body()});
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    Item item = item_of(mesh, mesh.cells[c], mesh.dim + 1, mesh.id_of_cell(c));
    item.tag = mesh.tags[c];
    if (const auto match = search(item)) ids[c] = *match;
  }
  search.add_unmatched(empty);
  return ids;
}

std::vector<std::int32_t> select_vertices(const BodyMesh& mesh, const Boundary& boundary,
                                          const std::vector<Selection>& selections,
                                          const Eigen::AlignedBox3d& box,
                                          std::vector<EmptySelection>& empty) {
  std::vector<std::int32_t> ids(mesh.vertices.size(), 0);
  if (selections.empty()) return ids;
  std::vector<char> in_cell(ids.size(), 0), on_boundary(ids.size(), 0);
  for (const auto& cell : mesh.cells)
    for (int i = 0; i <= mesh.dim; ++i) in_cell[cell[i]] = 1;
  for (const auto& facet : boundary.facets) {
    const auto vertices = facet_vertices(mesh, facet);
    for (int i = 0; i < mesh.dim; ++i) on_boundary[vertices[i]] = 1;
  }
  for (const std::int32_t vertex : boundary.vertices_of_others) on_boundary[vertex] = 1;
  const std::int64_t count = mesh.num_vertices_of_body();
  Search search(selections, box, mesh.dim, {EmptySelection::Kind::point, "boundary vertex", 1, count, count});
  for (std::int32_t v = 0; v < std::ssize(ids); ++v) {
    if (!in_cell[v]) continue;
    const std::int64_t id = mesh.id_of_vertex(v);
    const Item item{mesh.vertices[v], {std::int32_t(id), -1, -1, -1}, id, 0, on_boundary[v] != 0};
    if (const auto match = search(item)) ids[v] = *match;
  }
  search.add_unmatched(empty);
  return ids;
}

PointIds select_points(std::span<const Eigen::Vector3d> points, const std::vector<Selection>& selections,
                       const Eigen::AlignedBox3d& box) {
  for (const Selection& selection : selections)
    if (std::holds_alternative<FileSelection>(selection.shape))
      throw InputError(selection.where, "particles are not numbered in files; select them by their places");
  PointIds found{std::vector<std::int32_t>(points.size(), 0), {}};
  const auto count = std::ssize(points);
  Search search(selections, box, 3, {EmptySelection::Kind::point, "particle", 1, count, count});
  for (std::int64_t k = 0; k < count; ++k)
    if (const auto match = search(Item{points[k], {-1, -1, -1, -1}, k})) found.ids[k] = *match;
  found.matched = search.matched();
  return found;
}

} // namespace recoil::mesh
