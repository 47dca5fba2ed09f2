#include "recoil/cage/solid.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <Eigen/Geometry>

#include "cage/choose_lattice.hpp"
#include "cage/crossings.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/union_find.hpp"
#include "recoil/cage/cut_cells.hpp"
#include "recoil/cage/manifold.hpp"
#include "recoil/geometry/closest_points.hpp"

namespace recoil::cage {

namespace {

/// Facets with vertices of equal coordinates joined, those that use one twice left out.
template <int dim>
struct Welded {
  FacetMesh<dim> mesh;
  std::vector<std::int32_t> sources; ///< facet of the input
};

template <int dim>
Welded<dim> weld(const FacetMesh<dim>& input, const std::string& where) {
  Welded<dim> result;
  const auto less = [](const Point<dim>& a, const Point<dim>& b) {
    return std::lexicographical_compare(a.data(), a.data() + dim, b.data(), b.data() + dim);
  };
  std::map<Point<dim>, std::int32_t, decltype(less)> numbers(less);
  for (std::int32_t f = 0; f < std::ssize(input.facets); ++f) {
    std::array<std::int32_t, dim> facet;
    for (int k = 0; k < dim; ++k) {
      const auto& x = input.vertices[input.facets[f][k]];
      if (!x.allFinite())
        throw InputError(where, "vertex " + std::to_string(input.facets[f][k]) + " is not finite");
      const auto [entry, is_new] =
          numbers.try_emplace(x, static_cast<std::int32_t>(result.mesh.vertices.size()));
      if (is_new) result.mesh.vertices.push_back(x);
      facet[k] = entry->second;
    }
    auto sorted = facet;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) continue;
    result.mesh.facets.push_back(facet);
    result.sources.push_back(f);
  }
  return result;
}

/// The connected parts of a closed surface.
template <int dim>
class Components {
public:
  explicit Components(const FacetMesh<dim>& mesh) : mesh_(mesh) {
    const auto parts = connected_facets(mesh);
    for (std::int32_t f = 0; f < std::ssize(parts); ++f) {
      if (parts[f] == std::ssize(facets_)) facets_.emplace_back();
      facets_[parts[f]].push_back(f);
    }
    for (const auto& part : facets_) {
      boxes_.emplace_back();
      volumes_.push_back(0);
      const auto origin = mesh.vertices[mesh.facets[part[0]][0]];
      for (const auto f : part) {
        Eigen::Matrix<double, dim, dim> corners;
        for (int k = 0; k < dim; ++k) {
          corners.col(k) = mesh.vertices[mesh.facets[f][k]] - origin;
          boxes_.back().extend(mesh.vertices[mesh.facets[f][k]]);
        }
        volumes_.back() += corners.determinant();
      }
    }
  }

  /// Whether each part has its outside outside: no other encloses it, or one does and it is a hollow.
  /// @param sign -1: of the surface turned around.
  bool are_nested(int sign) const {
    for (std::size_t part = 0; part < facets_.size(); ++part) {
      const auto& x = mesh_.vertices[mesh_.facets[facets_[part][0]][0]];
      double around = 0;
      for (std::size_t other = 0; other < facets_.size(); ++other)
        if (other != part && boxes_[other].contains(x))
          for (const auto f : facets_[other])
            around += sign * winding<dim>(corners_of(mesh_, mesh_.facets[f]), x);
      if (std::lround(around) != (sign * volumes_[part] > 0 ? 0 : 1)) return false;
    }
    return true;
  }

private:
  const FacetMesh<dim>& mesh_;
  std::vector<std::vector<std::int32_t>> facets_;
  std::vector<Eigen::AlignedBox<double, dim>> boxes_;
  std::vector<double> volumes_;
};

/// The manifold of a closed surface; none where it is not closed.
bool split(const Welded<3>& welded, Solid<3>& solid) {
  auto manifold = split_to_manifold(welded.mesh.vertices, welded.mesh.facets);
  if (!manifold.is_closed) return false;
  solid.surface = std::move(manifold.mesh);
  for (const auto f : manifold.facet_sources) solid.parents.push_back(welded.sources[f]);
  return true;
}

bool split(const Welded<2>& welded, Solid<2>& solid) {
  if (!is_closed_manifold(welded.mesh)) return false;
  solid.surface = welded.mesh;
  solid.parents = welded.sources;
  return true;
}

/// What keeps a surface from being the boundary of a body; fills `solid` if nothing does.
template <int dim>
std::string take_as_it_is(const Welded<dim>& welded, Solid<dim>& solid) {
  for (const auto& facet : welded.mesh.facets)
    if (is_degenerate(corners_of(welded.mesh, facet))) return "has facets without area";
  if (intersects_itself(welded.mesh)) return "intersects itself";
  if (!split(welded, solid)) return "has holes, or facets that do not turn the same way as their neighbours";
  const Components<dim> components(solid.surface);
  if (components.are_nested(1)) return "";
  if (!components.are_nested(-1)) return "has parts whose insides overlap";
  for (auto& facet : solid.surface.facets) std::swap(facet[0], facet[1]);
  return "";
}

std::optional<double> place_of_crossing(const Point<3>& p, const Point<3>& q,
                                        const std::array<Point<3>, 3>& facet) {
  Eigen::Matrix3d system;
  system << q - p, facet[0] - facet[1], facet[0] - facet[2];
  // All are nan where facet and edge are parallel.
  const Eigen::Vector3d x = system.inverse() * (facet[0] - p);
  if (!(x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[2] >= 0 && x[1] + x[2] <= 1)) return std::nullopt;
  return x[0];
}

std::optional<double> place_of_crossing(const Point<2>& p, const Point<2>& q,
                                        const std::array<Point<2>, 2>& facet) {
  Eigen::Matrix2d system;
  system << q - p, facet[0] - facet[1];
  const Eigen::Vector2d x = system.inverse() * (facet[0] - p);
  if (!(x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[1] <= 1)) return std::nullopt;
  return x[0];
}

template <int dim>
double distance_squared(const Point<dim>& x, const std::array<Point<dim>, dim>& facet) {
  geometry::StencilPoints<dim> points;
  points.col(0) = x;
  for (int k = 0; k < dim; ++k) points.col(k + 1) = facet[k];
  using enum geometry::StencilKind;
  return geometry::distance_squared<dim>(dim == 3 ? vertex_face : vertex_edge, points);
}

/// The facet nearest to x.
template <int dim>
std::int32_t nearest_facet(const FacetMesh<dim>& mesh, const geometry::BoxTree& tree, const Point<dim>& x,
                           double reach) {
  for (double radius = reach;; radius *= 2) {
    auto box = box_around<dim>(std::array{x});
    box.min().array() -= radius;
    box.max().array() += radius;
    std::int32_t nearest = -1;
    double best = 1e300;
    for (const auto f : tree.meeting(box)) {
      const double distance = distance_squared<dim>(x, corners_of(mesh, mesh.facets[f]));
      if (distance < best) best = distance, nearest = f;
    }
    if (nearest >= 0 && best <= radius * radius) return nearest;
  }
}

/// The size of the winding number at each vertex; where `is_closed`, once for those between which no facet
/// passes.
template <int dim>
std::vector<double> winding_numbers(const CellMesh<dim>& cells, const WindingTree<dim>& tree,
                                    const geometry::BoxTree& boxes, bool is_closed) {
  UnionFind<std::int32_t> sets(static_cast<std::int32_t>(cells.vertices.size()));
  for (const auto& cell : cells.cells) {
    if (!is_closed) break;
    std::array<Point<dim>, dim + 1> corners;
    for (int k = 0; k <= dim; ++k) corners[k] = cells.vertices[cell[k]];
    if (boxes.meeting(box_around<dim>(corners)).empty())
      for (const auto v : cell) sets.unite(cell[0], v);
  }
  std::vector<double> result(cells.vertices.size());
  for (std::int32_t v = 0; v < std::ssize(result); ++v)
    result[v] = sets.root(v) == v ? std::abs(tree.at(cells.vertices[v])) : result[sets.root(v)];
  return result;
}

template <int dim>
Solid<dim> repaired(const Welded<dim>& welded, const std::string& reason, const SolidOptions& options,
                    const std::string& where) {
  constexpr double accepted = 0.3; // each lattice that is tried costs winding numbers
  const WindingTree<dim> tree(welded.mesh);
  const FacetMesh<dim>* surfaces[] = {&welded.mesh};
  const bool is_closed = has_no_boundary(welded.mesh);
  const auto chosen = choose_lattice<dim>(surfaces, tree, options.repair_cells, std::int64_t{1} << 28,
                                          is_closed, accepted, where);
  const auto cells = extract(chosen.lattice, chosen.flags).first;
  const auto boxes = facet_boxes(welded.mesh);
  const auto windings = winding_numbers(cells, tree, boxes, is_closed);
  std::vector<std::int32_t> outside;
  for (const double winding : windings) outside.push_back(winding <= 0.5);
  const auto cut = cut_cells<dim>(cells, outside, [&](std::int32_t a, std::int32_t b) {
    const auto &p = cells.vertices[a], &q = cells.vertices[b];
    std::optional<double> outermost;
    for (const auto f : boxes.meeting(box_around<dim>(std::array{p, q})))
      if (const auto t = place_of_crossing(p, q, corners_of(welded.mesh, welded.mesh.facets[f])))
        outermost = !outermost ? *t : outside[b] ? std::max(*t, *outermost) : std::min(*t, *outermost);
    return outermost ? *outermost : (windings[a] - 0.5) / (windings[a] - windings[b]);
  });
  Solid<dim> solid;
  solid.repair = reason;
  std::vector<std::int32_t> numbers(cut.vertices.size(), -1);
  for (const auto& facet : interfaces(static_cast<const CellMesh<dim>&>(cut), cut.labels)) {
    if (facet.above != 1 || facet.below != 0) continue;
    auto& corners = solid.surface.facets.emplace_back();
    Point<dim> centre = Point<dim>::Zero();
    for (int k = 0; k < dim; ++k) {
      auto& number = numbers[facet.vertices[k]];
      if (number < 0) {
        number = static_cast<std::int32_t>(solid.surface.vertices.size());
        solid.surface.vertices.push_back(cut.vertices[facet.vertices[k]]);
      }
      corners[k] = number;
      centre += cut.vertices[facet.vertices[k]] / dim;
    }
    solid.parents.push_back(welded.sources[nearest_facet(welded.mesh, boxes, centre, chosen.lattice.edge())]);
  }
  if (solid.surface.facets.empty())
    throw InputError(
        where, "the surface encloses nothing (it " + reason +
                   ", and no point of the lattice has a winding number above 1/2); close it, or turn its "
                   "facets the same way");
  return solid;
}

template <int dim>
Welded<dim> weld_with_facets(const FacetMesh<dim>& input, const std::string& where) {
  auto welded = weld(input, where);
  if (welded.mesh.facets.empty())
    throw InputError(where, dim == 3 ? "a surface without triangles" : "an outline without edges");
  return welded;
}

} // namespace

template <int dim>
Solid<dim> repair_solid(const FacetMesh<dim>& input, const std::string& reason, const SolidOptions& options,
                        const std::string& where) {
  const auto welded = weld_with_facets(input, where);
  auto solid = repaired(welded, reason, options, where);
  solid.input = welded.mesh;
  return solid;
}

template <int dim>
Solid<dim> make_solid(const FacetMesh<dim>& input, const SolidOptions& options, const std::string& where) {
  const auto welded = weld_with_facets(input, where);
  Solid<dim> solid;
  auto reason = options.always_repair ? "is repaired always" : take_as_it_is(welded, solid);
  if (!reason.empty()) solid = repaired(welded, reason, options, where);
  solid.input = welded.mesh;
  return solid;
}

#define RECOIL_SOLID(dim)                                                                                    \
  template Solid<dim> make_solid(const FacetMesh<dim>&, const SolidOptions&, const std::string&);            \
  template Solid<dim> repair_solid(const FacetMesh<dim>&, const std::string&, const SolidOptions&,           \
                                   const std::string&);
RECOIL_SOLID(2)
RECOIL_SOLID(3)
#undef RECOIL_SOLID

} // namespace recoil::cage
