#include "recoil/surface/shape.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <Eigen/Geometry>

namespace recoil::surface {

template <int dim>
std::vector<typename Surface<dim>::Point>
area_vectors(const Surface<dim>& surface, const std::vector<typename Surface<dim>::Point>& positions) {
  std::vector<typename Surface<dim>::Point> result;
  for (std::size_t f = 0; f < surface.facets().size(); ++f) {
    const auto& facet = surface.facets()[f];
    const auto way = [&](std::size_t i) { return positions[facet[i]] - positions[facet[0]]; };
    const double orientation = surface.facet_orientations()[f];
    if constexpr (dim == 2)
      result.emplace_back(orientation * way(1)[1], -orientation * way(1)[0]);
    else
      result.push_back(0.5 * orientation * way(1).cross(way(2)));
  }
  return result;
}

template <int dim>
std::vector<typename Surface<dim>::Point>
vertex_normals(const Surface<dim>& surface, const std::vector<typename Surface<dim>::Point>& positions) {
  using Point = typename Surface<dim>::Point;
  std::vector<VertexAddress> foreign;
  for (LocalIndex v = surface.num_owned(); v < surface.num_vertices(); ++v)
    foreign.push_back(surface.vertices()[v].address);
  const StencilVertices<dim> vertices(surface, std::move(foreign));
  std::vector<Point> sums(vertices.size(), Point::Zero());
  const auto areas = area_vectors(surface, positions);
  for (std::size_t f = 0; f < areas.size(); ++f)
    for (const LocalIndex v : surface.facets()[f])
      sums[vertices.find(surface.vertices()[v].address)] += areas[f];
  vertices.add_to_owners(sums);
  sums.resize(vertices.num_owned());
  for (Point& sum : sums)
    if (const double length = sum.norm(); length > 0) sum /= length;
  return sums;
}

namespace {

/// Appends the pairs of facets around `hinge`'s first vertices that have these other vertices.
template <int dim>
void add_pairs(Hinge<dim> hinge, const std::vector<LocalIndex>& others, std::vector<Hinge<dim>>& hinges) {
  for (std::size_t i = 0; i < others.size(); ++i)
    for (std::size_t j = i + 1; j < others.size(); ++j) {
      hinge[dim - 1] = others[i];
      hinge[dim] = others[j];
      hinges.push_back(hinge);
    }
}

} // namespace

template <int dim>
Hinges<dim> find_hinges(const Surface<dim>& surface) {
  Hinges<dim> result{{surface, SurfaceRings<dim>(surface), {}}, {}};
  const StencilVertices<dim>& vertices = result.vertices;
  const auto id = [&](LocalIndex vertex) { return vertices[vertex].id; };
  for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
    std::vector<std::array<LocalIndex, 2>> sides; // of facets: the other end of an edge, and what is opposite
    for (const auto& [a, b, side] : vertices.ring(v)) {
      sides.push_back({dim == 2 ? v : a, b});
      if (dim == 3) sides.push_back({b, a});
    }
    std::ranges::sort(sides, {}, [&](const auto& s) { return std::tuple(id(s[0]), id(s[1])); });
    for (std::size_t first = 0, end = 0; first < sides.size(); first = end) {
      std::vector<LocalIndex> others;
      for (end = first; end < sides.size() && sides[end][0] == sides[first][0]; ++end)
        others.push_back(sides[end][1]);
      Hinge<dim> hinge{v};
      if constexpr (dim == 3) {
        if (id(sides[first][0]) < id(v)) continue;
        hinge[1] = sides[first][0];
      }
      add_pairs<dim>(hinge, others, result.hinges);
    }
  }
  const auto ids = [&](const Hinge<dim>& hinge) {
    std::array<GlobalIndex, dim + 1> all;
    std::ranges::transform(hinge, all.begin(), id);
    return all;
  };
  std::ranges::sort(result.hinges, {}, ids);
  return result;
}

double fold_angle(const Eigen::Matrix<double, 2, 3>& x) {
  const Eigen::Vector2d in = x.col(0) - x.col(1), out = x.col(2) - x.col(0);
  return std::atan2(in[0] * out[1] - in[1] * out[0], in.dot(out));
}

double fold_angle(const Eigen::Matrix<double, 3, 4>& x) {
  const Eigen::Vector3d edge = x.col(1) - x.col(0);
  const Eigen::Vector3d first = edge.cross(x.col(2) - x.col(0)), second = (x.col(3) - x.col(0)).cross(edge);
  return std::atan2(second.cross(first).dot(edge.normalized()), first.dot(second));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<Eigen::Matrix<double, dim, 1>> area_vectors(                                          \
      const Surface<dim>&, const std::vector<Eigen::Matrix<double, dim, 1>>&);                               \
  template std::vector<Eigen::Matrix<double, dim, 1>> vertex_normals(                                        \
      const Surface<dim>&, const std::vector<Eigen::Matrix<double, dim, 1>>&);                               \
  template Hinges<dim> find_hinges(const Surface<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::surface
