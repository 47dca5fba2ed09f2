#include "recoil/pieces/moments.hpp"

#include <Eigen/Dense>

namespace recoil::pieces {

template <int dim>
Moments<dim> moments(const FacetMesh<dim>& surface) {
  using Matrix = Eigen::Matrix<double, dim, dim>;
  Eigen::AlignedBox<double, dim> box;
  for (const auto& facet : surface.facets)
    for (const auto v : facet) box.extend(surface.vertices[v]);
  Moments<dim> result;
  if (box.isEmpty()) return result;
  const Point<dim> origin = box.center();
  Point<dim> first = Point<dim>::Zero();
  for (const auto& facet : surface.facets) {
    Matrix corners;
    for (int k = 0; k < dim; ++k) corners.col(k) = surface.vertices[facet[k]] - origin;
    const double volume = corners.determinant() / (dim == 3 ? 6 : 2);
    const Point<dim> sum = corners.rowwise().sum();
    result.volume += volume;
    first += volume / (dim + 1) * sum;
    // int x x' over a simplex with a corner in the origin [Eberly 2002]
    result.second +=
        volume / ((dim + 1) * (dim + 2)) * (corners * corners.transpose() + sum * sum.transpose());
  }
  if (result.volume == 0) return result;
  const Point<dim> centre = first / result.volume;
  result.second -= result.volume * centre * centre.transpose();
  result.centre = origin + centre;
  return result;
}

template Moments<2> moments(const FacetMesh<2>&);
template Moments<3> moments(const FacetMesh<3>&);

} // namespace recoil::pieces
