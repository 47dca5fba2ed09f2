#include "cage/crossings.hpp"

#include <algorithm>

#include "recoil/geometry/predicates.hpp"

namespace recoil::cage {

namespace {

Point<2> without(const Point<3>& x, int axis) { return {x[(axis + 1) % 3], x[(axis + 2) % 3]}; }

/// Whether two triangles that share the edge uv lie on each other: in one plane and on one side of it.
bool fold_flat(const Point<3>& u, const Point<3>& v, const Point<3>& a, const Point<3>& b) {
  using geometry::orientation;
  if (orientation(u, v, a, b) != 0) return false;
  for (int axis = 0; axis < 3; ++axis) {
    const auto p = without(u, axis), q = without(v, axis);
    const int side = orientation(p, q, without(a, axis));
    if (side != 0) return side == orientation(p, q, without(b, axis));
  }
  return true;
}

bool overlap(const FacetMesh<3>& mesh, const std::array<std::int32_t, 3>& a,
             const std::array<std::int32_t, 3>& b) {
  using geometry::segment_triangle_intersect;
  const auto& x = mesh.vertices;
  const auto is_of = [](std::int32_t v, const auto& facet) {
    return std::find(facet.begin(), facet.end(), v) != facet.end();
  };
  std::array<std::int32_t, 3> p = a, q = b; // common vertices first
  const auto common =
      std::stable_partition(p.begin(), p.end(), [&](auto v) { return is_of(v, b); }) - p.begin();
  std::stable_partition(q.begin(), q.end(), [&](auto v) { return is_of(v, a); });
  switch (common) {
  case 0:
    return intersect(corners_of(mesh, a), corners_of(mesh, b));
  case 1:
    return segment_triangle_intersect(x[p[1]], x[p[2]], x[b[0]], x[b[1]], x[b[2]]) ||
           segment_triangle_intersect(x[q[1]], x[q[2]], x[a[0]], x[a[1]], x[a[2]]);
  case 2:
    return fold_flat(x[p[0]], x[p[1]], x[p[2]], x[q[2]]);
  default:
    return true;
  }
}

bool overlap(const FacetMesh<2>& mesh, const std::array<std::int32_t, 2>& a,
             const std::array<std::int32_t, 2>& b) {
  const auto& x = mesh.vertices;
  int common = 0;
  for (const auto v : a) common += v == b[0] || v == b[1];
  if (common == 0) return intersect(corners_of(mesh, a), corners_of(mesh, b));
  if (common == 2) return true;
  const bool first_of_a = a[0] == b[0] || a[0] == b[1];
  const auto end_a = first_of_a ? a[1] : a[0], shared = first_of_a ? a[0] : a[1];
  const auto end_b = b[0] == shared ? b[1] : b[0];
  return geometry::point_on_segment(x[end_a], x[b[0]], x[b[1]]) ||
         geometry::point_on_segment(x[end_b], x[a[0]], x[a[1]]);
}

} // namespace

bool intersect(const std::array<Point<3>, 3>& a, const std::array<Point<3>, 3>& b) {
  for (int k = 0; k < 3; ++k)
    if (geometry::segment_triangle_intersect(a[k], a[(k + 1) % 3], b[0], b[1], b[2]) ||
        geometry::segment_triangle_intersect(b[k], b[(k + 1) % 3], a[0], a[1], a[2]))
      return true;
  return false;
}

bool intersect(const std::array<Point<2>, 2>& a, const std::array<Point<2>, 2>& b) {
  return geometry::segments_intersect(a[0], a[1], b[0], b[1]);
}

template <int dim>
bool intersects_itself(const FacetMesh<dim>& mesh) {
  if (mesh.facets.empty()) return false;
  const auto tree = facet_boxes(mesh);
  for (std::int32_t f = 0; f < std::ssize(mesh.facets); ++f)
    for (const auto other : tree.meeting(box_around<dim>(corners_of(mesh, mesh.facets[f]))))
      if (other > f && overlap(mesh, mesh.facets[f], mesh.facets[other])) return true;
  return false;
}

bool is_degenerate(const std::array<Point<3>, 3>& facet) {
  for (int axis = 0; axis < 3; ++axis)
    if (geometry::orientation(without(facet[0], axis), without(facet[1], axis), without(facet[2], axis)) != 0)
      return false;
  return true;
}

bool is_degenerate(const std::array<Point<2>, 2>& facet) { return facet[0] == facet[1]; }

template bool intersects_itself(const FacetMesh<2>&);
template bool intersects_itself(const FacetMesh<3>&);

} // namespace recoil::cage
