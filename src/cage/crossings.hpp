#pragma once

#include "recoil/cage/facet_mesh.hpp"
#include "recoil/geometry/box_tree.hpp"

namespace recoil::cage {

template <int dim, std::size_t n>
std::array<Point<dim>, n> corners_of(const FacetMesh<dim>& mesh, const std::array<std::int32_t, n>& facet) {
  std::array<Point<dim>, n> corners;
  for (std::size_t k = 0; k < n; ++k) corners[k] = mesh.vertices[facet[k]];
  return corners;
}

/// Box around points, in 2D at z = 0.
template <int dim, std::size_t n>
Eigen::AlignedBox3d box_around(const std::array<Point<dim>, n>& points) {
  Eigen::AlignedBox3d box;
  for (const auto& x : points) {
    Eigen::Vector3d place = Eigen::Vector3d::Zero();
    place.head<dim>() = x;
    box.extend(place);
  }
  return box;
}
template <int dim>
Eigen::AlignedBox3d box_around(const std::array<Point<dim>, 1>& points) {
  return box_around<dim, 1>(points);
}

/// Tree of the boxes of simplices with n corners.
template <int dim, std::size_t n>
geometry::BoxTree box_tree(const std::vector<Point<dim>>& vertices,
                           const std::vector<std::array<std::int32_t, n>>& simplices) {
  std::vector<Eigen::AlignedBox3d> boxes;
  boxes.reserve(simplices.size());
  for (const auto& simplex : simplices) {
    std::array<Point<dim>, n> corners;
    for (std::size_t k = 0; k < n; ++k) corners[k] = vertices[simplex[k]];
    boxes.push_back(box_around<dim>(corners));
  }
  return geometry::BoxTree(std::move(boxes));
}
template <int dim>
geometry::BoxTree facet_boxes(const FacetMesh<dim>& mesh) {
  return box_tree<dim, dim>(mesh.vertices, mesh.facets);
}

/// Whether two facets without common vertices have a common point (exact).
bool intersect(const std::array<Point<3>, 3>& a, const std::array<Point<3>, 3>& b);
bool intersect(const std::array<Point<2>, 2>& a, const std::array<Point<2>, 2>& b);

/// Whether facets of a surface have more in common than their common vertices (exact).
template <int dim>
bool intersects_itself(const FacetMesh<dim>& mesh);

/// Whether a facet has no area (its corners are collinear) or no length (exact).
bool is_degenerate(const std::array<Point<3>, 3>& facet);
bool is_degenerate(const std::array<Point<2>, 2>& facet);

} // namespace recoil::cage
