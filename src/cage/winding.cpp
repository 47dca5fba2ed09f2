#include "recoil/cage/winding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

namespace recoil::cage {

namespace {

constexpr std::int32_t facets_of_leaf = 8;
constexpr double far = 5; ///< distance over radius from which on a node is a dipole

Point<3> area_vector(const std::array<Point<3>, 3>& facet) {
  return 0.5 * (facet[1] - facet[0]).cross(facet[2] - facet[0]);
}
Point<2> area_vector(const std::array<Point<2>, 2>& facet) {
  return {facet[1].y() - facet[0].y(), facet[0].x() - facet[1].x()};
}

template <int dim>
Point<dim> centre_of(const std::array<Point<dim>, dim>& facet) {
  Point<dim> sum = Point<dim>::Zero();
  for (const auto& corner : facet) sum += corner;
  return sum / dim;
}

} // namespace

template <>
double winding<3>(const std::array<Point<3>, 3>& facet, const Point<3>& q) {
  const Point<3> a = facet[0] - q, b = facet[1] - q, c = facet[2] - q;
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  const double below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
  return std::atan2(a.dot(b.cross(c)), below) / (2 * std::numbers::pi);
}

template <>
double winding<2>(const std::array<Point<2>, 2>& facet, const Point<2>& q) {
  const Point<2> a = facet[0] - q, b = facet[1] - q;
  return std::atan2(a.x() * b.y() - a.y() * b.x(), a.dot(b)) / (2 * std::numbers::pi);
}

template <int dim>
WindingTree<dim>::WindingTree(const FacetMesh<dim>& surface) {
  for (const auto& facet : surface.facets) {
    Corners corners;
    for (int k = 0; k < dim; ++k) corners[k] = surface.vertices[facet[k]];
    facets_.push_back(corners);
  }
  if (!facets_.empty()) build(0, static_cast<std::int32_t>(facets_.size()));
}

template <int dim>
std::int32_t WindingTree<dim>::build(std::int32_t begin, std::int32_t end) {
  Node node{Point<dim>::Zero(), Point<dim>::Zero(), 0, begin, end, 0};
  Eigen::AlignedBox<double, dim> box;
  double area = 0;
  for (auto f = begin; f < end; ++f) {
    const auto vector = area_vector(facets_[f]);
    node.dipole += vector;
    node.centre += vector.norm() * centre_of<dim>(facets_[f]);
    area += vector.norm();
    box.extend(centre_of<dim>(facets_[f]));
  }
  node.centre = area > 0 ? Point<dim>(node.centre / area) : box.center();
  for (auto f = begin; f < end; ++f)
    for (const auto& corner : facets_[f]) node.radius = std::max(node.radius, (corner - node.centre).norm());
  const auto number = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back(node);
  if (end - begin > facets_of_leaf) {
    int axis = 0;
    box.sizes().maxCoeff(&axis);
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(facets_.begin() + begin, facets_.begin() + middle, facets_.begin() + end,
                     [&](const Corners& a, const Corners& b) {
                       return centre_of<dim>(a)[axis] < centre_of<dim>(b)[axis];
                     });
    build(begin, middle);
    const auto second = build(middle, end);
    nodes_[number].second = second;
  }
  return number;
}

template <int dim>
double WindingTree<dim>::at(const Point<dim>& q) const {
  double sum = 0;
  std::int32_t stack[64];
  int depth = 0;
  if (!nodes_.empty()) stack[depth++] = 0;
  while (depth > 0) {
    const auto number = stack[--depth];
    const auto& node = nodes_[number];
    const Point<dim> r = node.centre - q;
    const double distance = r.norm();
    if (distance > far * node.radius) {
      const double sphere = dim == 3 ? 4 * std::numbers::pi * distance * distance * distance
                                     : 2 * std::numbers::pi * distance * distance;
      sum += node.dipole.dot(r) / sphere;
    } else if (node.second != 0) {
      stack[depth++] = node.second;
      stack[depth++] = number + 1;
    } else {
      for (auto f = node.begin; f < node.end; ++f) sum += winding<dim>(facets_[f], q);
    }
  }
  return sum;
}

template class WindingTree<2>;
template class WindingTree<3>;

} // namespace recoil::cage
