#include "app/impact/body_meshes.hpp"

#include <algorithm>
#include <map>

#include <Eigen/Geometry>

#include "recoil/geometry/box_tree.hpp"
#include "recoil/geometry/predicates.hpp"

namespace recoil::app {

namespace {

using cage::Point;

template <int dim>
struct FaultedBody {
  BodyCells<dim> body;
  std::vector<std::array<std::int32_t, dim>> facets; ///< of its boundary, by its own vertices
  std::vector<Point<dim>> inwards; ///< per vertex: the move for a gap of 2, zero off the faults
};

template <int dim>
Point<dim> unit_normal(const std::vector<Point<dim>>& x, const std::array<std::int32_t, dim>& facet) {
  const Point<dim> edge = x[facet[1]] - x[facet[0]];
  if constexpr (dim == 2)
    return Point<2>(edge.y(), -edge.x()).normalized();
  else
    return edge.cross(x[facet[2]] - x[facet[0]]).normalized();
}

/// A vector with the component -1 or less along each of some unit vectors, of at most three times that
/// length: by the perceptron's rule from the mean. Shorter, or zero, where there is none.
template <int dim>
Point<dim> against_all(const std::vector<Point<dim>>& normals) {
  constexpr double least = 0.3;
  constexpr int rounds = 200;
  Point<dim> direction = Point<dim>::Zero();
  for (const auto& n : normals) direction -= n;
  for (int round = 0; round < rounds; ++round) {
    double worst = 0;
    const Point<dim>* normal = nullptr;
    for (const auto& n : normals)
      if (const double miss = direction.dot(n) + least * direction.norm();
          miss > worst || direction.norm() == 0) {
        worst = miss;
        normal = &n;
        if (direction.norm() == 0) break;
      }
    if (normal == nullptr) break;
    direction -= 0.5 * *normal;
  }
  double nearest = 0;
  for (const auto& n : normals) {
    const double along = direction.dot(n);
    if (&n == &normals.front() || along > nearest) nearest = along;
  }
  if (nearest >= 0) return Point<dim>::Zero();
  direction /= -nearest;
  return direction.norm() > 3 ? Point<dim>(direction * (3 / direction.norm())) : direction;
}

template <int dim>
std::vector<FaultedBody<dim>> separate(const cage::CutCells<dim>& cells) {
  std::map<std::int32_t, FaultedBody<dim>> bodies;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> numbers; // of (label, vertex)
  const auto number = [&](std::int32_t label, std::int32_t v) {
    auto& mesh = bodies[label].body.mesh;
    const auto [entry, is_new] =
        numbers.try_emplace({label, v}, static_cast<std::int32_t>(mesh.vertices.size()));
    if (is_new) mesh.vertices.push_back(cells.vertices[v]);
    return entry->second;
  };
  for (std::size_t c = 0; c < cells.cells.size(); ++c) {
    auto cell = cells.cells[c];
    for (auto& v : cell) v = number(cells.labels[c], v);
    auto& body = bodies[cells.labels[c]].body;
    body.label = cells.labels[c];
    body.mesh.cells.push_back(cell);
    body.volume += cage::volume<dim>(cells, c);
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Point<dim>>> normals; // of (label, own vertex)
  const auto add_facet = [&](std::int32_t label, std::array<std::int32_t, dim> facet, bool is_fault) {
    for (auto& v : facet) v = numbers.at({label, v});
    auto& body = bodies.at(label);
    body.facets.push_back(facet);
    if (is_fault)
      for (const auto v : facet)
        normals[{label, v}].push_back(unit_normal<dim>(body.body.mesh.vertices, facet));
  };
  for (const auto& facet : cage::interfaces<dim>(cells, cells.labels)) {
    add_facet(facet.below, facet.vertices, facet.above >= 0);
    auto turned = facet.vertices;
    std::swap(turned[0], turned[1]);
    if (facet.above >= 0) add_facet(facet.above, turned, true);
  }
  std::vector<FaultedBody<dim>> result;
  for (auto& [label, body] : bodies) {
    body.inwards.assign(body.body.mesh.vertices.size(), Point<dim>::Zero());
    for (auto at = normals.lower_bound({label, 0}); at != normals.end() && at->first.first == label; ++at)
      body.inwards[at->first.second] = against_all<dim>(at->second);
    result.push_back(std::move(body));
  }
  return result;
}

template <int dim>
cage::CellMesh<dim> moved(const FaultedBody<dim>& body, double gap) {
  cage::CellMesh<dim> mesh = body.body.mesh;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) mesh.vertices[v] += gap / 2 * body.inwards[v];
  return mesh;
}

template <int dim>
bool keeps_its_cells(const cage::CellMesh<dim>& mesh, const cage::CellMesh<dim>& before) {
  for (std::size_t c = 0; c < mesh.cells.size(); ++c)
    if (cage::volume<dim>(mesh, c) < cage::volume<dim>(before, c) / 2) return false;
  return true;
}

Eigen::Vector3d lifted(const Point<3>& x) { return x; }
Eigen::Vector3d lifted(const Point<2>& x) { return {x.x(), x.y(), 0}; }

bool intersect(const std::array<Point<2>, 2>& a, const std::array<Point<2>, 2>& b) {
  return geometry::segments_intersect(a[0], a[1], b[0], b[1]);
}
bool intersect(const std::array<Point<3>, 3>& a, const std::array<Point<3>, 3>& b) {
  for (int k = 0; k < 3; ++k)
    if (geometry::segment_triangle_intersect(a[k], a[(k + 1) % 3], b[0], b[1], b[2]) ||
        geometry::segment_triangle_intersect(b[k], b[(k + 1) % 3], a[0], a[1], a[2]))
      return true;
  return false;
}

/// Whether facets of two bodies have a common point.
template <int dim>
bool any_intersect(const std::vector<FaultedBody<dim>>& bodies,
                   const std::vector<cage::CellMesh<dim>>& meshes) {
  std::vector<std::array<Point<dim>, dim>> facets;
  std::vector<std::size_t> body_of;
  std::vector<Eigen::AlignedBox3d> boxes;
  for (std::size_t b = 0; b < bodies.size(); ++b)
    for (const auto& facet : bodies[b].facets) {
      auto& corners = facets.emplace_back();
      auto& box = boxes.emplace_back();
      for (int k = 0; k < dim; ++k) {
        corners[k] = meshes[b].vertices[facet[k]];
        box.extend(lifted(corners[k]));
      }
      body_of.push_back(b);
    }
  const geometry::BoxTree tree(boxes);
  for (std::size_t f = 0; f < facets.size(); ++f)
    for (const auto other : tree.meeting(boxes[f]))
      if (static_cast<std::size_t>(other) > f && body_of[other] != body_of[f] &&
          intersect(facets[f], facets[other]))
        return true;
  return false;
}

} // namespace

template <int dim>
std::vector<BodyCells<dim>> bodies_with_gaps(const cage::CutCells<dim>& cells, double gap,
                                             GappedBodies& kept) {
  constexpr int attempts = 12;
  const auto bodies = separate<dim>(cells);
  std::vector<BodyCells<dim>> result;
  kept.gap = 0;
  for (int attempt = 0; attempt < attempts; ++attempt, gap /= 2) {
    std::vector<cage::CellMesh<dim>> meshes;
    bool is_sound = true;
    for (const auto& body : bodies) {
      meshes.push_back(moved(body, gap));
      is_sound = is_sound && keeps_its_cells<dim>(meshes.back(), body.body.mesh);
    }
    if (!is_sound || any_intersect(bodies, meshes)) continue;
    for (std::size_t b = 0; b < bodies.size(); ++b)
      result.push_back({bodies[b].body.label, std::move(meshes[b]), bodies[b].body.volume});
    kept.gap = gap;
    return result;
  }
  for (const auto& body : bodies) result.push_back(body.body);
  return result;
}

template std::vector<BodyCells<2>> bodies_with_gaps(const cage::CutCells<2>&, double, GappedBodies&);
template std::vector<BodyCells<3>> bodies_with_gaps(const cage::CutCells<3>&, double, GappedBodies&);

} // namespace recoil::app
